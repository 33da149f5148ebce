import { codecFor } from '@orch/apimachinery';
import type * as v1 from '@orch/types/autoscaling/v1';
import type * as v2beta1 from '@orch/types/autoscaling/v2beta1';
import type { HorizontalPodAutoscaler, MetricSpec } from '@orch/types/autoscaling/v2beta2';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cells, create, decode, requestContext, update } from '../testing/write.js';
import { horizontalPodAutoscaler as autoscaler } from './horizontal-pod-autoscaler.js';

const [stable, beta, newest] = autoscaler.versions;
const target = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 4 };
const cpu = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const queue: MetricSpec = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'Value', value: '30' } },
};
const key = (name: string) => `autoscaling.alpha.orch.io/${name}`;
const createAutoscaler = (spec: object, version = newest) =>
  create<HorizontalPodAutoscaler>(autoscaler, { spec: { ...target, ...spec } }, version);
const errorsOf = (spec: object) => createAutoscaler(spec).errors;

describe('autoscalers', () => {
  it('default to CPU utilization in every version', () => {
    for (const version of autoscaler.versions) {
      const { object, errors } = createAutoscaler({}, version);
      expect(errors).toEqual([]);
      expect(object.spec).toEqual({ ...target, minReplicas: 1, metrics: [cpu(80)] });
      expect(object.status).toEqual({ currentReplicas: 0, desiredReplicas: 0 });
    }
  });

  it('move CPU utilization to the end', () => {
    expect(createAutoscaler({ metrics: [cpu(70), queue] }).object.spec?.metrics).toEqual([
      queue,
      cpu(70),
    ]);
  });

  it('default the behavior member by member', () => {
    const { object } = createAutoscaler({
      behavior: { scaleDown: { stabilizationWindowSeconds: 10 } },
    });
    expect(object.spec?.behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: {
        stabilizationWindowSeconds: 10,
        selectPolicy: 'Max',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      },
    });
  });

  it.each<[object, string[]]>([
    [
      { minReplicas: -1, maxReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: -1: must be greater than or equal to 1',
        'spec.maxReplicas: Invalid value: 0: must be greater than 0',
      ],
    ],
    [
      { minReplicas: 5 },
      ['spec.maxReplicas: Invalid value: 4: must be greater than or equal to `minReplicas`'],
    ],
    [
      { scaleTargetRef: { kind: '', name: 'a/b' } },
      [
        'spec.scaleTargetRef.kind: Required value',
        'spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\'',
      ],
    ],
    [
      { metrics: [{ type: '' }] },
      [
        'spec.metrics[0].type: Required value: must specify a metric source type',
        'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
        'spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
      ],
    ],
    [
      { metrics: [{ ...queue, type: 'Pods', resource: cpu(1).resource }] },
      [
        'spec.metrics[0].pods: Required value: must populate information for the given metric source',
        'spec.metrics[0].external: Forbidden: must populate the given metric source only',
        'spec.metrics[0].resource: Forbidden: must populate the given metric source only',
      ],
    ],
    [
      {
        metrics: [
          { type: 'ContainerResource', containerResource: { ...cpu(1).resource, container: 'a' } },
        ],
      },
      [
        'spec.metrics[0].containerResource: Required value: must populate information for the given metric source (only allowed when HPAContainerMetrics feature is enabled)',
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'Object',
            object: { describedObject: { kind: 'A', name: 'b' }, metric: {}, target: {} },
          },
        ],
      },
      [
        'spec.metrics[0].object.metric.name: Required value: must specify a metric name',
        'spec.metrics[0].object.target.type: Required value: must specify a metric target type',
        'spec.metrics[0].object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
        'spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue',
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'External',
            external: {
              metric: { name: 'q' },
              target: { type: 'Value', value: '0', averageValue: '-1' },
            },
          },
        ],
      },
      [
        'spec.metrics[0].external.target.value: Invalid value: "0": must be positive',
        'spec.metrics[0].external.target.averageValue: Invalid value: "-1": must be positive',
        'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
      ],
    ],
    [
      { metrics: [{ type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'Value' } } }] },
      [
        'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
      ],
    ],
    [
      {
        metrics: [
          {
            type: 'Resource',
            resource: { target: { type: 'Value', averageUtilization: 0, averageValue: '1' } },
          },
          { type: 'Resource', resource: { name: 'a', target: { type: 'Value' } } },
        ],
      },
      [
        'spec.metrics[0].resource.name: Required value: must specify a resource name',
        'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
        'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
        'spec.metrics[1].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
      ],
    ],
    [
      {
        behavior: {
          scaleUp: { stabilizationWindowSeconds: -1, selectPolicy: 'x' },
          scaleDown: {
            stabilizationWindowSeconds: 3601,
            policies: [{ type: 'x', value: 0, periodSeconds: 1801 }],
          },
        },
      },
      [
        'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
        'spec.behavior.scaleUp.selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min"',
        'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
        'spec.behavior.scaleDown.policies[0].type: Unsupported value: "x": supported values: "Percent", "Pods"',
        'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
        'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });

  it('reject zero replicas at creation, but may stay at zero with an object metric', () => {
    const { object, errors } = createAutoscaler({ minReplicas: 0 });
    expect(errors).toEqual([
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ]);
    const measured = update(autoscaler, object, (changed: HorizontalPodAutoscaler) => {
      changed.spec!.metrics = [queue];
    });
    expect(measured.errors).toEqual([]);
  });

  it('validate and show their status', () => {
    const { object } = createAutoscaler({ metrics: [queue, cpu(70), queue] });
    expect(cells(autoscaler, object)).toMatchObject({
      Reference: 'Deployment/web',
      Targets: '<unknown>/30, <unknown>/30 + 1 more...',
      MinPods: '1',
      MaxPods: 4,
      Replicas: 0,
    });
    object.spec!.metrics = [cpu(70)];
    object.status!.currentMetrics = [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } },
    ];
    expect(cells(autoscaler, object).Targets).toBe('40%/70%');
    object.status!.currentReplicas = -1;
    const errors = autoscaler.status?.validateUpdate?.(object, {}, requestContext());
    expect(errors?.map(({ field }) => field)).toEqual(['status.currentReplicas']);
  });
});

describe('autoscalers in older versions', () => {
  const rich = createAutoscaler({
    metrics: [queue, cpu(70)],
    behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } },
  }).object;
  rich.metadata!.annotations = { mine: 'x' };
  rich.status = {
    currentReplicas: 1,
    desiredReplicas: 2,
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } },
    ],
    conditions: [{ type: 'AbleToScale', status: 'True' }],
  };

  it('store missing fields as annotations', () => {
    const inStable = stable!.fromStored!(rich) as v1.HorizontalPodAutoscaler;
    expect(inStable.spec).toEqual({
      ...target,
      minReplicas: 1,
      targetCPUUtilizationPercentage: 70,
    });
    expect(inStable.status).toEqual({
      currentReplicas: 1,
      desiredReplicas: 2,
      currentCPUUtilizationPercentage: 40,
    });
    const behavior =
      '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}]},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}]}}';
    expect(inStable.metadata?.annotations).toMatchObject({
      mine: 'x',
      [key('metrics')]:
        '[{"type":"External","external":{"metricName":"queue","targetValue":"30"}}]',
      [key('current-metrics')]:
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,"currentAverageValue":"0"}}]',
      [key('behavior')]: behavior,
    });
    const inBeta = beta!.fromStored!(rich) as v2beta1.HorizontalPodAutoscaler;
    expect(inBeta.metadata?.annotations).toEqual({ mine: 'x', [key('behavior')]: behavior });
    expect(inBeta.spec?.metrics).toEqual([
      { type: 'External', external: { metricName: 'queue', targetValue: '30' } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 70 } },
    ]);
  });

  it('drop unreadable annotations, and hide them in other versions', () => {
    const annotations = {
      [key('metrics')]: '{"not": "a list"}',
      [key('behavior')]: 'not JSON',
      [key('conditions')]: '[{"type": 1}]',
      mine: 'x',
    };
    const stored = decode<HorizontalPodAutoscaler>(
      autoscaler,
      { metadata: { annotations }, spec: target },
      stable,
    );
    expect(stored.metadata?.annotations).toEqual({ mine: 'x' });
    expect(stored.spec).toEqual({ ...target, minReplicas: 1, metrics: [cpu(80)] });
  });

  it('are validated including their annotations', () => {
    const annotations = { [key('behavior')]: '{"ScaleUp":{"Policies":[]}}' };
    const { errors } = create(
      autoscaler,
      { metadata: { name: 'x', annotations }, spec: target },
      beta,
    );
    expect(errors).toEqual([
      'spec.behavior.scaleUp.policies: Required value: must specify at least one Policy',
    ]);
  });

  const amount = fc.integer({ min: 1, max: 5000 }).map((value) => `${value}m`);
  const normal = (name: string, value: object) => codecFor<object>(name).fromJson(value);
  const identifier = fc.record(
    {
      name: fc.string({ minLength: 1 }),
      selector: fc.constant({ matchLabels: { a: 'b' } }),
    },
    { requiredKeys: ['name'] },
  );
  const valueTarget = fc.oneof(
    amount.map((value) => ({ type: 'Value', value })),
    amount.map((averageValue) => ({ type: 'AverageValue', averageValue })),
  );
  const averageTarget = amount.map((averageValue) => ({ type: 'AverageValue', averageValue }));
  const metric = fc.oneof(
    fc.record({ metric: identifier, target: valueTarget }).map((external) => ({
      type: 'External',
      external,
    })),
    fc.record({ metric: identifier, target: averageTarget }).map((pods) => ({
      type: 'Pods',
      pods,
    })),
    fc.record({ metric: identifier, target: valueTarget }).map((object) => ({
      type: 'Object',
      object: { ...object, describedObject: { kind: 'Service', name: 's' } },
    })),
    averageTarget.map((target) => ({
      type: 'Resource',
      resource: { name: 'memory', target: target },
    })),
  );
  const status = fc.oneof(
    fc
      .record({ metric: identifier, current: amount.map((value) => ({ value })) })
      .map((external) => ({ type: 'External', external })),
    fc
      .record({ metric: identifier, current: amount.map((averageValue) => ({ averageValue })) })
      .map((pods) => ({ type: 'Pods', pods })),
    fc.integer({ min: 1 }).map((averageUtilization) => ({
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization } },
    })),
  );

  it('round-trip without loss', () => {
    const type = 'autoscaling/v2beta2.HorizontalPodAutoscaler';
    const stored = fc
      .record({
        metrics: fc.array(metric, { maxLength: 3 }),
        percent: fc.integer({ min: 1, max: 100 }),
        currentMetrics: fc.array(status, { minLength: 1, maxLength: 2 }),
        behavior: fc.option(fc.constant(rich.spec?.behavior), { nil: undefined }),
      })
      .map(({ metrics, percent, currentMetrics, behavior }) =>
        normal(type, {
          metadata: { name: 'x', annotations: { mine: 'x' } },
          spec: { ...target, metrics: [...metrics, cpu(percent)], behavior },
          status: { currentReplicas: 1, desiredReplicas: 2, currentMetrics },
        }),
      );
    for (const version of [stable!, beta!]) {
      fc.assert(
        fc.property(stored, (object) => {
          const converted = version.fromStored!(object);
          const sent = normal(
            `autoscaling/${version.version}.HorizontalPodAutoscaler`,
            JSON.parse(JSON.stringify(converted)) as object,
          );
          expect(JSON.parse(JSON.stringify(normal(type, version.toStored!(sent))))).toEqual(
            JSON.parse(JSON.stringify(object)),
          );
        }),
        { numRuns: 60 },
      );
    }
  });
});

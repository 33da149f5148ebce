import { ApiError, resources } from '@orch/client';
import type { HorizontalPodAutoscaler, MetricSpec } from '@orch/types/autoscaling/v2beta2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod, replicaSet } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { podAutoscalerController } from './pod-autoscaler-controller.js';

const cpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const metric = { name: 'requests' };

describe('podAutoscalerController', () => {
  let harness: ControllerHarness;
  const replicas = () => harness.server.get(resources.replicaSets, 'default/web')?.spec?.replicas;
  const autoscaler = (): HorizontalPodAutoscaler =>
    harness.server.get(
      resources.horizontalPodAutoscalers,
      'default/web',
    ) as HorizontalPodAutoscaler;
  const condition = (type: string) =>
    autoscaler().status?.conditions?.find((one) => one.type === type);
  const serve = (path: string, items: () => object[]) =>
    harness.server.served.set(path, () => ({ items: items() }));

  /** `cpuMilli`: what each pod uses of its core. */
  function seed(count: number, metrics: MetricSpec[], spec: object = {}, cpuMilli?: () => number) {
    const set = replicaSet({ name: 'web', replicas: count, status: { replicas: count } });
    harness.server.seed(resources.replicaSets, set);
    const containers = [{ name: 'c', resources: { requests: { cpu: '1' } } }];
    for (let index = 0; index < count; index++) {
      const one = pod({ name: `p${index}`, labels: { app: 'web' }, spec: { containers } });
      const startTime = '2021-01-01T00:00:00Z';
      harness.server.seed(resources.pods, { ...one, status: { ...one.status, startTime } });
    }
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
    harness.server.seed(resources.horizontalPodAutoscalers, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics, ...spec },
    } as object);
    if (!cpuMilli) return;
    serve('/apis/metrics.orch.io/v1beta1/namespaces/default/pods', () =>
      harness.names(resources.pods).map((name) => ({
        metadata: { name, namespace: 'default' },
        timestamp: '2021-06-01T00:00:00Z',
        window: '30s',
        containers: [{ name: 'c', usage: { cpu: `${cpuMilli()}m` } }],
      })),
    );
  }

  beforeEach(() => {
    harness = new ControllerHarness([podAutoscalerController]);
  });
  afterEach(() => harness.stop());

  it('scales up immediately and down after the stabilization', async () => {
    let usage = 1_000;
    seed(2, [cpu], {}, () => usage);
    await harness.start();
    expect(replicas()).toBe(4);
    expect(autoscaler().status).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 4,
      currentMetrics: [{ resource: { current: { averageUtilization: 100, averageValue: '1' } } }],
    });
    expect(harness.events()).toContain(
      'SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target',
    );
    usage = 100;
    await harness.advance(290_000);
    expect(replicas()).toBe(4);
    expect(condition('AbleToScale')).toMatchObject({ reason: 'ScaleDownStabilized' });
    await harness.advance(30_000);
    expect(replicas()).toBe(1);
    expect(harness.events()).toContain(
      'SuccessfulRescale: New size: 1; reason: All metrics below target',
    );
  });

  it.each([
    ['above', 7, { maxReplicas: 5 }, 5, 'Current number of replicas above Spec.MaxReplicas'],
    ['below', 1, { minReplicas: 3 }, 3, 'Current number of replicas below Spec.MinReplicas'],
  ])('moves a target %s its bounds, without metrics', async (_, count, spec, expected, reason) => {
    seed(count, [cpu], spec);
    await harness.start();
    expect(replicas()).toBe(expected);
    expect(harness.events()).toContain(
      `SuccessfulRescale: New size: ${expected}; reason: ${reason}`,
    );
  });

  it('follows the policies of the behavior', async () => {
    const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }];
    seed(2, [cpu], { behavior: { scaleUp: { selectPolicy: 'Max', policies } } }, () => 1_000);
    await harness.start();
    expect(replicas()).toBe(3);
    expect(condition('ScalingLimited')).toMatchObject({ status: 'True', reason: 'ScaleUpLimit' });
    await harness.advance(50_000);
    expect(replicas()).toBe(3);
    await harness.advance(30_000);
    expect(replicas()).toBe(4);
  });

  it.each<[MetricSpec, string, object[], number, string]>([
    [
      { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '10' } } },
      '/apis/custom.metrics.orch.io/v1beta1/namespaces/default/pods/*/requests',
      [
        { describedObject: { name: 'p0' }, value: '30' },
        { describedObject: { name: 'p1' }, value: '10' },
      ],
      4,
      'pods metric requests',
    ],
    [
      {
        type: 'Object',
        object: {
          metric,
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 'front' },
          target: { type: 'Value', value: '100' },
        },
      },
      '/apis/custom.metrics.orch.io/v1beta1/namespaces/default/services/front/requests',
      [{ describedObject: { name: 'front' }, value: '150' }],
      3,
      'Service metric requests',
    ],
    [
      {
        type: 'External',
        external: {
          metric: { name: 'queue' },
          target: { type: 'AverageValue', averageValue: '5' },
        },
      },
      '/apis/external.metrics.orch.io/v1beta1/namespaces/default/queue',
      [{ value: '7500m' }, { value: '7500m' }],
      3,
      'external metric queue(nil)',
    ],
  ])('scales by %j', async (spec, path, items, expected, name) => {
    const versions = [{ version: 'v1beta1' }];
    harness.server.served.set('/apis/custom.metrics.orch.io', () => ({ versions }));
    seed(2, [spec]);
    serve(path, () => items);
    await harness.start();
    expect(replicas()).toBe(expected);
    expect(harness.events()).toContain(
      `SuccessfulRescale: New size: ${expected}; reason: ${name} above target`,
    );
  });

  it('reports missing metrics and scales nothing', async () => {
    const pods: MetricSpec = {
      type: 'Pods',
      pods: { metric, target: { type: 'AverageValue', averageValue: '1' } },
    };
    seed(2, [pods]);
    await harness.start();
    const reason =
      'unable to get metric requests: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.orch.io) registered';
    expect(replicas()).toBe(2);
    expect(condition('ScalingActive')).toMatchObject({
      status: 'False',
      reason: 'FailedGetPodsMetric',
      message: `the HPA was unable to compute the replica count: ${reason}`,
    });
    expect(harness.events()).toEqual(
      expect.arrayContaining([
        `FailedGetPodsMetric: ${reason}`,
        `FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get pods metric value: ${reason}`,
      ]),
    );
  });

  it('only scales up while one of several metrics is missing', async () => {
    let usage = 1_000;
    const missing: MetricSpec = {
      type: 'External',
      external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1' } },
    };
    seed(2, [cpu, missing], {}, () => usage);
    await harness.start();
    expect(replicas()).toBe(4);
    usage = 1;
    await harness.advance(400_000);
    expect(replicas()).toBe(4);
    expect(condition('ScalingActive')).toMatchObject({ reason: 'FailedGetExternalMetric' });
  });

  it.each([
    [{ apiVersion: 'a/b/c', kind: 'X', name: 'x' }, 'unexpected GroupVersion string: a/b/c'],
    [{ apiVersion: 'v1', kind: 'X', name: 'x' }, 'no matches for kind "X" in group ""'],
  ])('reports the target %j', async (scaleTargetRef, reason) => {
    seed(2, [cpu], { scaleTargetRef });
    await harness.start();
    expect(condition('AbleToScale')).toMatchObject({ status: 'False', reason: 'FailedGetScale' });
    expect(harness.events()).toEqual([`FailedGetScale: ${reason}`]);
    const writeCount = () =>
      harness.server.requests.filter(({ method }) => method === 'PUT').length;
    await harness.advance(120_000);
    expect(writeCount()).toBe(1);
  });

  it('reports a scale that is refused, and a target at zero', async () => {
    seed(2, [cpu], {}, () => 1_000);
    harness.server.interceptNext('PUT', resources.replicaSets, () => {
      throw new ApiError(403, 'Forbidden', 'no');
    });
    await harness.start();
    expect(condition('AbleToScale')).toMatchObject({ reason: 'FailedUpdateScale' });
    harness.server.change(resources.replicaSets, 'default/web', (object) => ({
      ...object,
      spec: { ...object.spec!, replicas: 0 },
    }));
    await harness.advance(16_000);
    expect(condition('ScalingActive')).toMatchObject({ reason: 'ScalingDisabled' });
    expect(replicas()).toBe(0);
  });
});

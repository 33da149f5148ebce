import type { PersistentVolumeClaim, Pod, ResourceQuota, Service } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { resourceListOf } from './amounts.js';
import type { QuotaObject } from './evaluator.js';
import { quotaEvaluator } from './evaluators.js';
import { chargeQuotas } from './quota.js';

const nowMs = Date.parse('2026-11-22T12:00:00Z');
const evaluatorOf = (resource: string, group = '') => quotaEvaluator([{ group, resource }]);
const pods = evaluatorOf('pods');

type Amounts = Record<string, string>;
const quota = (hard: Amounts, used: Amounts, spec: object = {}): ResourceQuota => ({
  metadata: { name: 'q' },
  spec: { hard, ...spec },
  status: { hard, used },
});

const pod = (requests: Amounts, limits: Amounts = {}, spec: object = {}): Pod => ({
  spec: { containers: [{ name: 'a', resources: { requests, limits } }], ...spec },
});

const charge = (quotas: readonly ResourceQuota[], object: QuotaObject, evaluator = pods) =>
  chargeQuotas(quotas, evaluator, { object, old: undefined, nowMs });

const usedAfter = (quotas: readonly ResourceQuota[], object: QuotaObject, evaluator = pods) => {
  const outcome = charge(quotas, object, evaluator);
  return outcome.allowed ? outcome.charges.map(({ used }) => used) : outcome.reason;
};

describe('usage', () => {
  it('of a pod is the larger of its containers together and one init container', () => {
    const object = pod({ cpu: '100m', memory: '1Mi' }, { cpu: '1' });
    object.spec!.containers!.push({
      name: 'b',
      resources: { requests: { cpu: '300m', 'a.b/gpu': '2' } },
    });
    object.spec!.initContainers = [
      { name: 'i', resources: { requests: { cpu: '350m', memory: '2Mi' } } },
    ];
    object.spec!.overhead = { cpu: '50m' };
    expect(resourceListOf(pods.usage(object, nowMs))).toEqual({
      'count/pods': '1',
      pods: '1',
      cpu: '450m',
      'requests.cpu': '450m',
      memory: '2Mi',
      'requests.memory': '2Mi',
      'requests.a.b/gpu': '2',
      'limits.cpu': '1050m',
    });
  });

  it.each<[string, Partial<Pod>, boolean]>([
    ['runs', { status: { phase: 'Running' } }, true],
    ['has ended', { status: { phase: 'Succeeded' } }, false],
    [
      'is ending',
      { metadata: { deletionTimestamp: '2026-11-22T11:59:50Z', deletionGracePeriodSeconds: 30 } },
      true,
    ],
    [
      'should have ended',
      { metadata: { deletionTimestamp: '2026-11-22T11:59:00Z', deletionGracePeriodSeconds: 30 } },
      false,
    ],
  ])('of a pod that %s', (_, facts, isLive) => {
    const usage = pods.usage({ ...pod({ cpu: '1' }), ...facts } as Pod, nowMs);
    expect([usage.has('count/pods'), usage.has('pods'), usage.has('cpu')]).toEqual([
      true,
      isLive,
      isLive,
    ]);
  });

  it.each<[object, [string, string]]>([
    [{ type: 'ClusterIP', ports: [{}, {}] }, ['0', '0']],
    [{ type: 'NodePort', ports: [{}, {}] }, ['2', '0']],
    [{ type: 'LoadBalancer', ports: [{}, {}] }, ['2', '1']],
    [
      {
        type: 'LoadBalancer',
        ports: [{}, { nodePort: 30_000 }],
        allocateLoadBalancerNodePorts: false,
      },
      ['1', '1'],
    ],
  ])('of a service %j', (spec, [ports, balancers]) => {
    const usage = resourceListOf(evaluatorOf('services').usage({ spec } as Service, nowMs));
    expect(usage).toMatchObject({
      'services.nodeports': ports,
      'services.loadbalancers': balancers,
      services: '1',
    });
  });

  it('of a claim includes its class', () => {
    const claim: PersistentVolumeClaim = {
      spec: { storageClassName: 'gold', resources: { requests: { storage: '5Gi' } } },
    };
    const evaluator = evaluatorOf('persistentvolumeclaims');
    expect(resourceListOf(evaluator.usage(claim, nowMs))).toMatchObject({
      'requests.storage': '5Gi',
      'gold.storageclass.storage.orch.io/requests.storage': '5Gi',
      'gold.storageclass.storage.orch.io/persistentvolumeclaims': '1',
    });
    const named = ['requests.storage', 'x.storageclass.storage.orch.io/requests.storage'];
    expect(evaluator.countedNames([...named, 'pods'])).toEqual(named);
  });

  it('of other kinds is the number of objects', () => {
    expect(resourceListOf(evaluatorOf('secrets').usage({}, nowMs))).toEqual({
      'count/secrets': '1',
      secrets: '1',
    });
    expect(resourceListOf(evaluatorOf('deployments', 'apps').usage({}, nowMs))).toEqual({
      'count/deployments.apps': '1',
    });
  });
});

describe('a quota', () => {
  it('is charged for counted resources', () => {
    const q = quota({ pods: '2', 'requests.cpu': '1' }, { pods: '1', 'requests.cpu': '600m' });
    expect(usedAfter([q], pod({ cpu: '400m', memory: '1Gi' }))).toEqual([
      { pods: '2', 'requests.cpu': '1' },
    ]);
  });

  it('rejects an exceeding change, naming the exceeded resources only', () => {
    const q = quota({ pods: '2', 'requests.cpu': '1' }, { pods: '1', 'requests.cpu': '600m' });
    expect(usedAfter([q], pod({ cpu: '401m' }))).toBe(
      'exceeded quota: q, requested: requests.cpu=401m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
  });

  it('requires values for counted resources', () => {
    const hard = { 'limits.memory': '1', 'requests.cpu': '1', 'requests.ephemeral-storage': '1' };
    expect(usedAfter([quota(hard, {})], pod({}))).toBe(
      'failed quota: q: must specify limits.memory,requests.cpu',
    );
  });

  it('rejects a change while its usage is unknown', () => {
    expect(usedAfter([quota({ pods: '1' }, {})], pod({}))).toBe(
      'status unknown for quota: q, resources: pods',
    );
    expect(
      usedAfter([{ metadata: { name: 'q' }, spec: { hard: { pods: '0' } } }], pod({})),
    ).toEqual([]);
  });

  it.each<[object, Pod, boolean]>([
    [{ scopes: ['BestEffort'] }, pod({}), true],
    [{ scopes: ['BestEffort'] }, pod({ cpu: '1' }), false],
    [{ scopes: ['NotBestEffort'] }, pod({}, { memory: '1' }), true],
    [{ scopes: ['Terminating'] }, pod({}, {}, { activeDeadlineSeconds: 1 }), true],
    [{ scopes: ['NotTerminating'] }, pod({}, {}, { activeDeadlineSeconds: 1 }), false],
    [{ scopes: ['Terminating', 'BestEffort'] }, pod({}), false],
    [{ scopes: ['PriorityClass'] }, pod({}, {}, { priorityClassName: 'a' }), true],
    [{ scopes: ['PriorityClass'] }, pod({}), false],
    ...(
      [
        ['In', ['a', 'b'], 'a', true],
        ['In', ['b'], 'a', false],
        ['In', ['b'], undefined, false],
        ['NotIn', ['b'], 'a', true],
        ['NotIn', ['a'], 'a', false],
        ['NotIn', ['a'], undefined, true],
        ['Exists', undefined, undefined, false],
        ['DoesNotExist', undefined, undefined, true],
      ] as const
    ).map(
      ([operator, values, priorityClassName, expected]) =>
        [
          {
            scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
          },
          pod({}, {}, { priorityClassName }),
          expected,
        ] as [object, Pod, boolean],
    ),
  ])('of %j counts %j: %s', (spec, object, isCounted) => {
    const q = quota({ pods: '5' }, { pods: '0' }, spec);
    expect(usedAfter([q], object)).toEqual(isCounted ? [{ pods: '1' }] : []);
  });

  it('is charged for the increase only, and releases nothing', () => {
    const q = quota(
      { services: '2', 'services.nodeports': '2' },
      { services: '1', 'services.nodeports': '1' },
    );
    const service = (type: string, portCount: number) =>
      ({ spec: { type, ports: Array.from({ length: portCount }, () => ({})) } }) as Service;
    const change = (object: Service, old: Service) =>
      chargeQuotas([q], evaluatorOf('services'), { object, old, nowMs });
    expect(change(service('NodePort', 2), service('NodePort', 1))).toMatchObject({
      charges: [{ used: { services: '1', 'services.nodeports': '2' } }],
    });
    expect(change(service('NodePort', 3), service('NodePort', 1))).toMatchObject({
      reason:
        'exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2',
    });
    expect(change(service('ClusterIP', 1), service('NodePort', 1))).toEqual({
      allowed: true,
      charges: [],
    });
  });
});

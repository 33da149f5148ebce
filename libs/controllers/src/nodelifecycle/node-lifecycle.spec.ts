import type { Node, Taint, Toleration } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod } from '../../test/objects.js';
import { Heartbeats } from './heartbeats.js';
import { readinessOf, unknownConditions } from './node-conditions.js';
import { missingLabels } from './node-labels.js';
import { withNoExecuteTaint, withNoScheduleTaints } from './node-taints.js';
import { toleranceMs } from './tolerance.js';
import { clusterState, zoneOf } from './zones.js';

type Readiness = 'True' | 'False' | 'Unknown';

const node = (
  ready: Readiness | undefined,
  more: { heartbeat?: number; zone?: string; spec?: Node['spec']; pressure?: boolean } = {},
): Node => ({
  metadata: {
    name: 'n1',
    uid: 'u1',
    creationTimestamp: at(0),
    labels: more.zone ? { 'topology.orch.io/zone': more.zone } : {},
  },
  spec: more.spec ?? {},
  status: {
    conditions: [
      ...(ready
        ? [{ type: 'Ready', status: ready, lastHeartbeatTime: at(more.heartbeat ?? 0) }]
        : []),
      { type: 'MemoryPressure', status: more.pressure ? 'True' : 'False' },
    ],
  },
});
const lease = (renewTime: string) => ({ metadata: { name: 'n1' }, spec: { renewTime } });

describe('Heartbeats', () => {
  const grace = { monitorMs: 40_000, startupMs: 60_000 };

  it('count a renewed lease and a newer status as signs of life', () => {
    const heartbeats = new Heartbeats(grace);
    const isSilent = (...args: Parameters<Heartbeats['observe']>) =>
      heartbeats.observe(...args).isSilent;
    expect(isSilent(node('True'), lease('1'), 0)).toBe(false);
    expect(isSilent(node('True'), lease('1'), 40_000)).toBe(false);
    expect(isSilent(node('True'), lease('1'), 40_001)).toBe(true);
    expect(isSilent(node('True'), lease('2'), 50_000)).toBe(false);
    expect(isSilent(node('True', { heartbeat: 9 }), lease('2'), 80_000)).toBe(false);
    expect(isSilent(node('True', { heartbeat: 9 }), lease('2'), 120_001)).toBe(true);
    heartbeats.reset(120_001);
    expect(isSilent(node('True', { heartbeat: 9 }), lease('2'), 130_000)).toBe(false);
  });

  it('give a node that has never reported more time', () => {
    const heartbeats = new Heartbeats(grace);
    const isSilent = (...args: Parameters<Heartbeats['observe']>) =>
      heartbeats.observe(...args).isSilent;
    heartbeats.observe(node(undefined), undefined, 0);
    expect(isSilent(node(undefined), undefined, 60_000)).toBe(false);
    expect(isSilent(node(undefined), undefined, 60_001)).toBe(true);
  });
});

describe('Heartbeats of a node that flaps', () => {
  it('measure the time since the last transition and since the last sign of life', () => {
    const heartbeats = new Heartbeats({ monitorMs: 40_000, startupMs: 60_000 });
    const report = (ready: Readiness, heartbeat: number) => node(ready, { heartbeat });
    heartbeats.observe(report('True', 0), undefined, 0);
    expect(heartbeats.observe(report('False', 1), undefined, 1_000).steadyMs).toBe(0);
    const later = heartbeats.observe(report('False', 9), undefined, 9_000);
    expect(later).toEqual({ isSilent: false, silentMs: 0, steadyMs: 8_000 });
    const silent = heartbeats.observe(report('False', 9), undefined, 60_000);
    expect(silent).toEqual({ isSilent: true, silentMs: 51_000, steadyMs: 59_000 });
  });
});

describe('unknownConditions', () => {
  it('marks what the node reports as unknown, once', () => {
    const silent = node('True');
    const conditions = unknownConditions(silent, epochMs + 50_000)!;
    expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastHeartbeatTime: at(0),
      lastTransitionTime: at(50),
    });
    expect(conditions.find(({ type }) => type === 'DiskPressure')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
    });
    expect(unknownConditions({ ...silent, status: { conditions } }, epochMs)).toBeUndefined();
  });
});

describe('taints', () => {
  const keys = (taints: readonly Taint[] | undefined) =>
    taints?.map((taint) => `${taint.key}:${taint.effect}`);

  it.each([
    ['ready', node('True'), undefined],
    ['not ready', node('False'), ['node.orch.io/not-ready:NoSchedule']],
    ['new', node(undefined), ['node.orch.io/not-ready:NoSchedule']],
    ['silent', node('Unknown'), ['node.orch.io/unreachable:NoSchedule']],
    [
      'cordoned and full',
      node('True', { spec: { unschedulable: true }, pressure: true }),
      ['node.orch.io/memory-pressure:NoSchedule', 'node.orch.io/unschedulable:NoSchedule'],
    ],
    [
      'ready again, keeping what is not ours',
      node('True', {
        spec: {
          taints: [
            { key: 'node.orch.io/not-ready', effect: 'NoSchedule' },
            { key: 'mine', effect: 'NoSchedule' },
          ],
        },
      }),
      ['mine:NoSchedule'],
    ],
  ])('of a node that is %s', (_, own, expected) => {
    expect(keys(withNoScheduleTaints(own, epochMs))).toEqual(expected);
  });

  it('change from not ready to unreachable in one step', () => {
    const spec = { taints: [{ key: 'node.orch.io/not-ready', effect: 'NoExecute' as const }] };
    const own = node('Unknown', { spec });
    expect(keys(withNoExecuteTaint(own, 'node.orch.io/unreachable', epochMs))).toEqual([
      'node.orch.io/unreachable:NoExecute',
    ]);
    expect(keys(withNoExecuteTaint(own, undefined, epochMs))).toEqual([]);
    expect(withNoExecuteTaint(own, 'node.orch.io/not-ready', epochMs)).toBeUndefined();
  });
});

describe('toleranceMs', () => {
  const taint: Taint = { key: 'node.orch.io/not-ready', effect: 'NoExecute' };
  const tolerating = (...tolerations: Toleration[]) => pod({ spec: { tolerations } });
  const exists = { key: taint.key!, operator: 'Exists' as const };

  it.each([
    ['nothing', tolerating(), 0],
    ['all', tolerating({ operator: 'Exists' }), undefined],
    ['it for ever', tolerating(exists), undefined],
    ['it for five minutes', tolerating({ ...exists, tolerationSeconds: 300 }), 300_000],
    [
      'it for the shorter of two',
      tolerating({ ...exists, tolerationSeconds: 300 }, { ...exists, tolerationSeconds: 10 }),
      10_000,
    ],
    ['it not at all', tolerating({ ...exists, tolerationSeconds: -1 }), 0],
    ['another effect', tolerating({ ...exists, effect: 'NoSchedule' }), 0],
    ['another value', tolerating({ key: taint.key!, operator: 'Equal', value: 'x' }), 0],
  ])('of a pod that tolerates %s', (_, own, expected) => {
    expect(toleranceMs(own, [taint])).toBe(expected);
  });

  it('ignores taints with other effects', () => {
    expect(toleranceMs(tolerating(), [{ key: 'a', effect: 'NoSchedule' }])).toBeUndefined();
  });
});

describe('clusterState', () => {
  const rates = { normalQps: 0.1, secondaryQps: 0.01, largeZoneSize: 5, unhealthyShare: 0.55 };
  const zone = (name: string, ...ready: Readiness[]) =>
    ready.map((one) => node(one, { zone: name }));
  const stateOf = (nodes: Node[]) =>
    clusterState(
      nodes.map((one) => [one, readinessOf(one)]),
      rates,
    );
  const key = (name: string) => `:\0:${name}`;
  const [T, U] = ['True', 'Unknown'] as const;

  it.each([
    ['all well', [...zone('a', T, T)], { a: ['Normal', 0.1] }, false],
    ['one down', [...zone('a', T, U)], { a: ['Normal', 0.1] }, false],
    ['most of a small zone down', zone('a', U, U, U, T), { a: ['PartialDisruption', 0] }, false],
    [
      'most of a large zone down',
      zone('a', U, U, U, U, T, T),
      { a: ['PartialDisruption', 0.01] },
      false,
    ],
    [
      'one zone down',
      [...zone('a', U, U), ...zone('b', T)],
      { a: ['FullDisruption', 0.1], b: ['Normal', 0.1] },
      false,
    ],
    [
      'everything down',
      [...zone('a', U, U), ...zone('b', U)],
      { a: ['FullDisruption', 0], b: ['FullDisruption', 0] },
      true,
    ],
  ] as const)('%s', (_, nodes, expected, isPartitioned) => {
    const { zones, ...state } = stateOf([...nodes]);
    expect(state.isPartitioned).toBe(isPartitioned);
    const actual = [...zones].map(([name, { state, qps }]) => [name, [state, qps]]);
    expect(Object.fromEntries(actual)).toEqual(
      Object.fromEntries(Object.entries(expected).map(([name, value]) => [key(name), value])),
    );
  });

  it('ignores excluded nodes but has a rate for their zone', () => {
    const excluded = node(U, { zone: 'a' });
    excluded.metadata!.labels!['node.orch.io/exclude-disruption'] = '';
    const { zones, isPartitioned } = stateOf([excluded]);
    expect(isPartitioned).toBe(false);
    const unlabelled = { state: 'Normal', nodeCount: 0, unhealthyCount: 0, qps: 0.1 };
    expect(zones.get(key('a'))).toEqual(unlabelled);
  });

  it('prefers the beta label of a zone', () => {
    const labels = { 'topology.orch.io/zone': 'new', 'failure-domain.beta.orch.io/zone': 'old' };
    expect(zoneOf({ metadata: { labels } })).toBe(key('old'));
    expect(zoneOf({ metadata: {} })).toBe('');
  });
});

describe('missingLabels', () => {
  it.each([
    ['adds the beta labels of system and architecture', { 'orch.io/os': 'linux' }, ['linux']],
    ['corrects them', { 'orch.io/os': 'linux', 'beta.orch.io/os': 'x' }, ['linux']],
    ['leaves correct ones', { 'orch.io/os': 'linux', 'beta.orch.io/os': 'linux' }, undefined],
    ['adds no zone', { 'topology.orch.io/zone': 'a' }, undefined],
    [
      'corrects a zone',
      { 'topology.orch.io/zone': 'a', 'failure-domain.beta.orch.io/zone': 'b' },
      ['a'],
    ],
    ['ignores a beta label alone', { 'beta.orch.io/os': 'x' }, undefined],
  ])('%s', (_, labels, expected) => {
    const missing = missingLabels({ metadata: { labels: labels as Record<string, string> } });
    expect(missing && Object.values(missing)).toEqual(expected);
  });
});

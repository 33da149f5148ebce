import type { Node, Taint, Toleration } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod } from '../../test/objects.js';
import { Heartbeats } from './heartbeats.js';
import { readinessOf, unknownConditions } from './node-conditions.js';
import { withNoExecuteTaint, withNoScheduleTaints } from './node-taints.js';
import { toleranceMs } from './tolerance.js';
import { clusterState } from './zones.js';

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
    expect(heartbeats.observe(node('True'), lease('1'), 0)).toBe(false);
    expect(heartbeats.observe(node('True'), lease('1'), 40_000)).toBe(false);
    expect(heartbeats.observe(node('True'), lease('1'), 40_001)).toBe(true);
    expect(heartbeats.observe(node('True'), lease('2'), 50_000)).toBe(false);
    expect(heartbeats.observe(node('True', { heartbeat: 9 }), lease('2'), 80_000)).toBe(false);
    expect(heartbeats.observe(node('True', { heartbeat: 9 }), lease('2'), 120_001)).toBe(true);
    heartbeats.reset(120_001);
    expect(heartbeats.observe(node('True', { heartbeat: 9 }), lease('2'), 130_000)).toBe(false);
  });

  it('give a node that has never reported more time', () => {
    const heartbeats = new Heartbeats(grace);
    heartbeats.observe(node(undefined), undefined, 0);
    expect(heartbeats.observe(node(undefined), undefined, 60_000)).toBe(false);
    expect(heartbeats.observe(node(undefined), undefined, 60_001)).toBe(true);
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

  it('does not look at taints of other effects', () => {
    expect(toleranceMs(tolerating(), [{ key: 'a', effect: 'NoSchedule' }])).toBeUndefined();
  });
});

describe('clusterState', () => {
  const rates = { normalQps: 0.1, secondaryQps: 0.01, largeZoneSize: 5, unhealthyShare: 0.55 };
  const zone = (name: string, ...ready: Readiness[]) =>
    ready.map((one) => node(one, { zone: name }));
  const qps = (nodes: Node[]) => Object.fromEntries(clusterState(nodes, rates).qps);
  const [T, U] = ['True', 'Unknown'] as const;

  it.each([
    ['all well', [...zone('a', T, T)], { '/a': 0.1 }, false],
    ['one down', [...zone('a', T, U)], { '/a': 0.1 }, false],
    ['most of a small zone down', zone('a', U, U, U, T), { '/a': 0 }, false],
    ['most of a large zone down', zone('a', U, U, U, U, T, T), { '/a': 0.01 }, false],
    ['one zone down', [...zone('a', U, U), ...zone('b', T)], { '/a': 0.1, '/b': 0.1 }, false],
    ['everything down', [...zone('a', U, U), ...zone('b', U)], { '/a': 0, '/b': 0 }, true],
  ])('%s', (_, nodes, expected, isCutOff) => {
    expect(qps(nodes)).toEqual(expected);
    expect(clusterState(nodes, rates).isCutOff).toBe(isCutOff);
    expect(readinessOf(nodes[0]!)).toBeDefined();
  });
});

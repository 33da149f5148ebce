import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import { describe, expect, it } from 'vitest';
import type { ClusterCache } from '../../cache/cluster-cache.js';
import { findFeasible, movePod, rejectionOf } from '../../framework/filtering.js';
import { type PodInfo, podInfo } from '../../model/pod-info.js';
import {
  type ContextFields,
  clusterOf,
  cycleOf,
  info,
  node,
  pod,
  profileOf,
  search,
} from '../../testing/builders.js';
import { chooseCandidate } from './choose-candidate.js';
import { defaultPreemption } from './default-preemption.js';

const profile = profileOf();

/** The chosen node and the names of the victims. */
function preempt(cluster: ClusterCache, preemptor: PodInfo, fields: ContextFields = {}) {
  const cycle = cycleOf(preemptor, cluster, fields);
  const { feasible, rejections } = findFeasible(cycle, profile, search);
  expect(feasible).toEqual([]);
  const { candidates } = defaultPreemption().postFilter!(cycle, {
    rejections,
    simulate: (simulated, on) => rejectionOf(simulated, profile, on),
    move: (simulated, on, moved, sign) => movePod(simulated, profile, on, moved, sign),
  });
  const best = chooseCandidate(candidates);
  return best && { node: best.node, victims: best.victims.map(({ name }) => name) };
}

interface Placed {
  readonly cpu: string;
  readonly priority?: number;
  readonly labels?: Record<string, string>;
  readonly startTime?: string;
}

function place(cluster: ClusterCache, on: string, name: string, fields: Placed) {
  const { cpu, priority = 0, labels, startTime } = fields;
  const object = pod({ name, labels, requests: { cpu }, spec: { priority } });
  cluster.setPod(podInfo({ ...object, status: { startTime } }), on);
}

const urgent = (cpu: string, spec: object = {}) =>
  info({ name: 'urgent', requests: { cpu }, spec: { priority: 100, ...spec } });

describe('preemption', () => {
  it('evicts only as many pods as needed, the least important ones', () => {
    const cluster = clusterOf(node('n'));
    place(cluster, 'n', 'low', { cpu: '2', priority: 1 });
    place(cluster, 'n', 'middle', { cpu: '2', priority: 5 });
    expect(preempt(cluster, urgent('2'))).toEqual({ node: 'n', victims: ['low'] });
  });

  it('evicts no pod of the same or higher priority, and none if it does not help', () => {
    const cluster = clusterOf(node('n'), node('tainted', { unschedulable: true }));
    place(cluster, 'n', 'equal', { cpu: '4', priority: 100 });
    place(cluster, 'tainted', 'low', { cpu: '4' });
    expect(preempt(cluster, urgent('2'))).toBeUndefined();
    expect(preempt(cluster, urgent('5'))).toBeUndefined();
  });

  it('does not evict for a pod that must not preempt', () => {
    const cluster = clusterOf(node('n'));
    place(cluster, 'n', 'low', { cpu: '4' });
    expect(preempt(cluster, urgent('2', { preemptionPolicy: 'Never' }))).toBeUndefined();
  });

  it('prefers the node without violated budgets, even with victims of higher priority', () => {
    const cluster = clusterOf(node('a'), node('b'));
    place(cluster, 'a', 'guarded', { cpu: '4', priority: 1, labels: { app: 'x' } });
    place(cluster, 'b', 'free', { cpu: '4', priority: 50 });
    const budget: PodDisruptionBudget = {
      metadata: { namespace: 'default', name: 'x' },
      spec: { selector: { matchLabels: { app: 'x' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    };
    const objects = { budgets: () => [budget] };
    expect(preempt(cluster, urgent('2'), { objects })).toEqual({ node: 'b', victims: ['free'] });
    expect(preempt(cluster, urgent('2'))).toEqual({ node: 'a', victims: ['guarded'] });
  });

  it.each([
    ['lowest priority', { cpu: '4', priority: 1 }, { cpu: '4', priority: 2 }],
    [
      'latest start',
      { cpu: '4', startTime: '2021-01-02T00:00:00Z' },
      { cpu: '4', startTime: '2021-01-01T00:00:00Z' },
    ],
  ])('chooses among nodes by the %s of the victims', (_, better, worse) => {
    const cluster = clusterOf(node('worse'), node('better'));
    place(cluster, 'better', 'b', better);
    place(cluster, 'worse', 'w', worse);
    expect(preempt(cluster, urgent('2'))).toEqual({ node: 'better', victims: ['b'] });
  });

  it('chooses the node with the fewest victims', () => {
    const cluster = clusterOf(node('two'), node('one'));
    place(cluster, 'two', 'a', { cpu: '2' });
    place(cluster, 'two', 'b', { cpu: '2' });
    place(cluster, 'one', 'c', { cpu: '4' });
    expect(preempt(cluster, urgent('4'))).toEqual({ node: 'one', victims: ['c'] });
  });

  it('makes room in a topology domain that is too full', () => {
    const cluster = clusterOf(node('n', { labels: { zone: 'z' } }), node('bare'));
    place(cluster, 'n', 'old', { cpu: '1', labels: { app: 'web' } });
    const apart = urgent('1', {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } },
          ],
        },
      },
      nodeSelector: { zone: 'z' },
    });
    expect(preempt(cluster, apart)).toEqual({ node: 'n', victims: ['old'] });
  });

  it('waits while a victim of an earlier preemption terminates on the nominated node', () => {
    const cluster = clusterOf(node('a'), node('b'));
    const ending = pod({ name: 'ending', requests: { cpu: '4' } });
    ending.metadata!.deletionTimestamp = '2021-01-01T00:00:00Z';
    cluster.setPod(podInfo(ending), 'a');
    place(cluster, 'b', 'other', { cpu: '4' });
    const nominated = podInfo({ ...urgent('2').pod, status: { nominatedNodeName: 'a' } });
    expect(preempt(cluster, nominated)).toBeUndefined();
  });
});

it('holds the room of a nominated pod against pods of lower priority', () => {
  const cluster = clusterOf(node('n'));
  const nominated = urgent('4');
  const nominatedPods = () => [nominated];
  const feasibleFor = (priority: number) =>
    findFeasible(
      cycleOf(info({ requests: { cpu: '1' }, spec: { priority } }), cluster, { nominatedPods }),
      profile,
      search,
    ).feasible.length;
  expect(feasibleFor(1)).toBe(0);
  expect(feasibleFor(1_000)).toBe(1);
});

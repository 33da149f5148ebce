import { dialect } from '@orch/component';
import type { Affinity, NodeSelectorRequirement, Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import type { ClusterCache } from '../cache/cluster-cache.js';
import { runCycle, totalScores } from '../framework/cycle.js';
import type { CycleContext } from '../framework/plugin.js';
import { podInfo } from '../model/pod-info.js';
import { clusterOf, contextOf, info, node, pod } from '../testing/builders.js';
import { defaultSpread } from './default-spread.js';
import { imageLocality, preferredNodeAffinity, preferredTaints } from './node-scores.js';
import { podAffinityScore } from './pod-affinity.js';
import { filterPlugins } from './registry.js';
import { topologySpreadScore } from './topology-spread.js';

/** Names of the nodes that take the pod. */
function takers(cluster: ClusterCache, candidate: Pod, parts: Partial<CycleContext> = {}) {
  const context = contextOf(cluster, parts);
  const filters = filterPlugins.map((plugin) => plugin.prepare(podInfo(candidate), context));
  return cluster.nodes
    .filter((each) => filters.every((filter) => !filter?.(each)))
    .map((each) => each.name);
}

const zone = 'topology.example/zone';
const inZones = (...zones: string[]) =>
  clusterOf(...zones.map((value, index) => node(`n${index}`, { labels: { [zone]: value } })));

describe('taints and tolerations', () => {
  const cluster = clusterOf(
    node('free'),
    node('noschedule', { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }),
    node('noexecute', { taints: [{ key: 'k', value: 'w', effect: 'NoExecute' }] }),
    node('soft', { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }),
  );
  const withTolerations = (tolerations: object[]) =>
    takers(cluster, pod({ spec: { tolerations } }));

  it('keeps pods off unless all taints that repel are tolerated', () => {
    expect(withTolerations([])).toEqual(['free', 'soft']);
    expect(withTolerations([{ key: 'k', value: 'v' }])).toEqual(['free', 'noschedule', 'soft']);
    expect(withTolerations([{ key: 'k', operator: 'Exists', effect: 'NoExecute' }])).toEqual([
      'free',
      'noexecute',
      'soft',
    ]);
    expect(withTolerations([{ operator: 'Exists' }])).toHaveLength(4);
  });

  it('prefers nodes without soft taints', () => {
    const scores = totalScores(info(), contextOf(cluster), [preferredTaints], cluster.nodes);
    expect([...scores]).toEqual([100, 100, 100, 0]);
  });

  it('lets pods onto a cordoned node that tolerate the taint for it', () => {
    const cordoned = clusterOf(node('n', { unschedulable: true }));
    expect(takers(cordoned, pod())).toEqual([]);
    const tolerations = [{ operator: 'Exists' }];
    expect(takers(cordoned, pod({ spec: { tolerations } }))).toEqual(['n']);
  });
});

describe('node selection', () => {
  const cluster = clusterOf(
    node('a', { labels: { disk: 'ssd', size: '10' } }),
    node('b', { labels: { disk: 'hdd', size: '20' } }),
    node('c'),
  );
  const required = (...matchExpressions: NodeSelectorRequirement[]) =>
    takers(
      cluster,
      pod({
        spec: {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions }],
              },
            },
          },
        },
      }),
    );

  it('follows names, selectors and every operator', () => {
    expect(takers(cluster, pod({ spec: { nodeName: 'b' } }))).toEqual(['b']);
    expect(takers(cluster, pod({ spec: { nodeSelector: { disk: 'ssd' } } }))).toEqual(['a']);
    expect(required({ key: 'disk', operator: 'In', values: ['hdd', 'x'] })).toEqual(['b']);
    expect(required({ key: 'disk', operator: 'NotIn', values: ['hdd'] })).toEqual(['a', 'c']);
    expect(required({ key: 'disk', operator: 'Exists' })).toEqual(['a', 'b']);
    expect(required({ key: 'disk', operator: 'DoesNotExist' })).toEqual(['c']);
    expect(required({ key: 'size', operator: 'Gt', values: ['15'] })).toEqual(['b']);
    expect(required({ key: 'size', operator: 'Lt', values: ['15'] })).toEqual(['a']);
    expect(required({ key: 'disk', operator: 'Lt', values: ['15'] })).toEqual([]);
    expect(required()).toEqual([]);
  });

  it('selects by the field for the name', () => {
    const candidate = pod({
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['c'] }] },
              ],
            },
          },
        },
      },
    });
    expect(takers(cluster, candidate)).toEqual(['c']);
  });

  it('scores preferred terms by their weights', () => {
    const term = (weight: number, key: string) => ({
      weight,
      preference: { matchExpressions: [{ key, operator: 'Exists' }] },
    });
    const candidate = info({
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [term(30, 'disk'), term(10, 'none')],
          },
        },
      },
    });
    const scores = totalScores(
      candidate,
      contextOf(cluster),
      [preferredNodeAffinity],
      cluster.nodes,
    );
    expect([...scores]).toEqual([100, 100, 0]);
  });
});

it('knows which host ports are taken', () => {
  const cluster = clusterOf(node('n'));
  const using = (hostPort: number, hostIP?: string, protocol?: string) =>
    pod({
      name: `p${hostPort}`,
      spec: {
        containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort, hostIP, protocol }] }],
      },
    });
  cluster.setPod(podInfo(using(80, '10.0.0.1')), 'n');
  cluster.setPod(podInfo(using(90)), 'n');
  expect(takers(cluster, using(80))).toEqual([]);
  expect(takers(cluster, using(80, '10.0.0.1'))).toEqual([]);
  expect(takers(cluster, using(80, '10.0.0.2'))).toEqual(['n']);
  expect(takers(cluster, using(80, '10.0.0.1', 'UDP'))).toEqual(['n']);
  expect(takers(cluster, using(90, '10.0.0.9'))).toEqual([]);
  cluster.removePod('default/p90');
  expect(takers(cluster, using(90, '10.0.0.9'))).toEqual(['n']);
});

it('asks for extended resources by name', () => {
  const cluster = clusterOf(
    node('plain'),
    node('gpu', { allocatable: { 'example.com/gpu': '2' } }),
  );
  const candidate = info({ requests: { 'example.com/gpu': '2' } });
  const first = runCycle(
    candidate,
    contextOf(cluster),
    { filters: filterPlugins, scores: [] },
    {
      start: 0,
      percentageOfNodesToScore: 0,
      random: () => 0,
    },
  );
  expect(first.node).toBe('gpu');
  cluster.assume(candidate, 'gpu');
  expect(takers(cluster, pod({ name: 'other', requests: { 'example.com/gpu': '1' } }))).toEqual([]);
});

it('prefers nodes that have the image, by size', () => {
  const holder = node('holder');
  holder.status!.images = [{ names: ['app:latest'], sizeBytes: 1_000 * 1024 * 1024 }];
  const cluster = clusterOf(holder, node('empty'));
  const scores = totalScores(info(), contextOf(cluster), [imageLocality], cluster.nodes);
  expect([...scores]).toEqual([48, 0]);
});

describe('affinity between pods', () => {
  const term = (labels: Record<string, string>) => ({
    topologyKey: zone,
    labelSelector: { matchLabels: labels },
  });
  const near = (labels: Record<string, string>): Affinity => ({
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(labels)] },
  });
  const apart = (labels: Record<string, string>): Affinity => ({
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(labels)] },
  });

  it('places pods near those they need, in the whole domain and the same namespace only', () => {
    const cluster = inZones('x', 'x', 'y');
    cluster.setPod(info({ name: 'db', labels: { app: 'db' } }), 'n0');
    expect(takers(cluster, pod({ spec: { affinity: near({ app: 'db' }) } }))).toEqual(['n0', 'n1']);
    const elsewhere = pod({ namespace: 'other', spec: { affinity: near({ app: 'db' }) } });
    expect(takers(cluster, elsewhere)).toEqual([]);
  });

  it('lets the first of a group that wants to be together go anywhere', () => {
    const cluster = inZones('x', 'y');
    const first = pod({ labels: { app: 'web' }, spec: { affinity: near({ app: 'web' }) } });
    expect(takers(cluster, first)).toEqual(['n0', 'n1']);
  });

  it('keeps pods apart, both those that ask and those that are asked for', () => {
    const cluster = inZones('x', 'y');
    cluster.setPod(
      info({ name: 'one', labels: { app: 'web' }, spec: { affinity: apart({ app: 'web' }) } }),
      'n0',
    );
    const asking = pod({ labels: { app: 'web' }, spec: { affinity: apart({ app: 'web' }) } });
    expect(takers(cluster, asking)).toEqual(['n1']);
    expect(takers(cluster, pod({ labels: { app: 'web' } }))).toEqual(['n1']);
    expect(takers(cluster, pod({ labels: { app: 'db' } }))).toEqual(['n0', 'n1']);
  });

  it('selects namespaces by their labels', () => {
    const cluster = inZones('x', 'y');
    cluster.setPod(info({ name: 'db', namespace: 'data', labels: { app: 'db' } }), 'n1');
    const affinity: Affinity = {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { ...term({ app: 'db' }), namespaceSelector: { matchLabels: { team: 'data' } } },
        ],
      },
    };
    const namespaceLabels = (name: string): Record<string, string> =>
      name === 'data' ? { team: 'data' } : {};
    expect(takers(cluster, pod({ spec: { affinity } }), { namespaceLabels })).toEqual(['n1']);
  });

  it('scores wishes from both sides', () => {
    const cluster = inZones('x', 'y', 'z');
    cluster.setPod(info({ name: 'db', labels: { app: 'db' } }), 'n0');
    cluster.setPod(info({ name: 'noisy', labels: { app: 'noisy' } }), 'n1');
    const wish = (weight: number, app: string) => ({ weight, podAffinityTerm: term({ app }) });
    const candidate = info({
      spec: {
        affinity: {
          podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [wish(50, 'db')] },
          podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [wish(50, 'noisy')] },
        },
      },
    });
    const score = (parts: Partial<CycleContext> = {}) => [
      ...totalScores(candidate, contextOf(cluster, parts), [podAffinityScore], cluster.nodes),
    ];
    expect(score()).toEqual([100, 0, 50]);
    const friend = info({ name: 'friend', spec: { affinity: near({}) } });
    cluster.setPod(friend, 'n2');
    expect(score({ hardPodAffinityWeight: 100 })).toEqual([66, 0, 100]);
  });
});

describe('topology spread', () => {
  const constraint = (whenUnsatisfiable: string) => ({
    maxSkew: 1,
    topologyKey: zone,
    whenUnsatisfiable,
    labelSelector: { matchLabels: { app: 'web' } },
  });
  const web = (whenUnsatisfiable: string, name = 'web') =>
    pod({
      name,
      labels: { app: 'web' },
      spec: { topologySpreadConstraints: [constraint(whenUnsatisfiable)] },
    });

  it('keeps the skew within its maximum and needs the label', () => {
    const cluster = inZones('x', 'x', 'y');
    cluster.setNode(node('bare'));
    cluster.setPod(podInfo(web('DoNotSchedule', 'one')), 'n0');
    expect(takers(cluster, web('DoNotSchedule'))).toEqual(['n2']);
    cluster.setPod(podInfo(web('DoNotSchedule', 'two')), 'n2');
    expect(takers(cluster, web('DoNotSchedule'))).toEqual(['n0', 'n1', 'n2']);
  });

  it('prefers the emptier domain when it may not hold', () => {
    const cluster = inZones('x', 'y');
    cluster.setPod(podInfo(web('ScheduleAnyway', 'one')), 'n0');
    const scores = totalScores(
      podInfo(web('ScheduleAnyway')),
      contextOf(cluster),
      [topologySpreadScore],
      cluster.nodes,
    );
    expect(scores[1]).toBeGreaterThan(scores[0]!);
  });

  it('spreads the pods of a service over nodes without being asked', () => {
    const hosts = ['a', 'b'].map((name) =>
      node(name, { labels: { [dialect().key('hostname')]: name } }),
    );
    const cluster = clusterOf(...hosts);
    cluster.setPod(info({ name: 'one', labels: { app: 'web' } }), 'a');
    const spread = defaultSpread({
      services: () => [{ spec: { selector: { app: 'web' } } }],
      replicaSet: () => undefined,
      statefulSet: () => undefined,
      replicationController: () => undefined,
    });
    const score = (labels: Record<string, string>) => [
      ...totalScores(
        info({ labels }),
        contextOf(cluster, { defaultSpread: spread }),
        [topologySpreadScore],
        cluster.nodes,
      ),
    ];
    const [onA, onB] = score({ app: 'web' });
    expect(onB).toBeGreaterThan(onA!);
    expect(score({ app: 'other' })).toEqual([0, 0]);
  });
});

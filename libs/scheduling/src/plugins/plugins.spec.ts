import { dialect } from '@orch/component';
import type { Affinity, NodeSelectorRequirement, Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import type { ClusterCache } from '../cache/cluster-cache.js';
import { findFeasible } from '../framework/filtering.js';
import type { Plugin } from '../framework/plugin.js';
import { type PodInfo, podInfo } from '../model/pod-info.js';
import {
  type ContextFields,
  clusterOf,
  cycleOf,
  info,
  node,
  pod,
  profileOf,
  scoresOf,
  search,
} from '../testing/builders.js';
import { imageLocality } from './image-locality.js';
import { nodeAffinity } from './node-affinity.js';
import { interPodAffinity } from './pod-affinity.js';
import { taintToleration } from './taint-toleration.js';
import { podTopologySpread, systemConstraints } from './topology-spread.js';

/** Names of the nodes that take the pod. */
function takers(cluster: ClusterCache, candidate: Pod, fields: ContextFields = {}) {
  const { feasible } = findFeasible(
    cycleOf(podInfo(candidate), cluster, fields),
    profileOf(),
    search,
  );
  return feasible.map((each) => each.name);
}

/** The scores of one plugin, in the order of the nodes. */
function scores(
  plugin: Plugin,
  candidate: PodInfo,
  cluster: ClusterCache,
  fields: ContextFields = {},
) {
  return Object.values(scoresOf(plugin, cycleOf(candidate, cluster, fields)));
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

  it('reject nodes unless all NoSchedule and NoExecute taints are tolerated', () => {
    expect(withTolerations([])).toEqual(['free', 'soft']);
    expect(withTolerations([{ key: 'k', value: 'v' }])).toEqual(['free', 'noschedule', 'soft']);
    expect(withTolerations([{ key: 'k', operator: 'Exists', effect: 'NoExecute' }])).toEqual([
      'free',
      'noexecute',
      'soft',
    ]);
    expect(withTolerations([{ operator: 'Exists' }])).toHaveLength(4);
  });

  it('prefer nodes without soft taints', () => {
    expect(scores(taintToleration, info(), cluster)).toEqual([100, 100, 100, 0]);
  });

  it('admit pods to a cordoned node if they tolerate its taint', () => {
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

  it('applies names, selectors and every operator', () => {
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

  it('matches the field metadata.name', () => {
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
    expect(scores(nodeAffinity(), candidate, cluster)).toEqual([100, 100, 0]);
  });
});

it('rejects nodes with conflicting host ports', () => {
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

it('fits extended resources by name', () => {
  const cluster = clusterOf(
    node('plain'),
    node('gpu', { allocatable: { 'example.com/gpu': '2' } }),
  );
  const candidate = info({ requests: { 'example.com/gpu': '2' } });
  expect(takers(cluster, candidate.pod)).toEqual(['gpu']);
  cluster.assume(candidate, 'gpu');
  expect(takers(cluster, pod({ name: 'other', requests: { 'example.com/gpu': '1' } }))).toEqual([]);
});

it('prefers nodes that have the image, by size', () => {
  const holder = node('holder');
  holder.status!.images = [{ names: ['app:latest'], sizeBytes: 1_000 * 1024 * 1024 }];
  const cluster = clusterOf(holder, node('empty'));
  expect(scores(imageLocality, info(), cluster)).toEqual([48, 0]);
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

  it('requires a matching pod of the same namespace in the topology domain', () => {
    const cluster = inZones('x', 'x', 'y');
    cluster.setPod(info({ name: 'db', labels: { app: 'db' } }), 'n0');
    expect(takers(cluster, pod({ spec: { affinity: near({ app: 'db' }) } }))).toEqual(['n0', 'n1']);
    const elsewhere = pod({ namespace: 'other', spec: { affinity: near({ app: 'db' }) } });
    expect(takers(cluster, elsewhere)).toEqual([]);
  });

  it('admits the first pod of a group with affinity to itself to any node', () => {
    const cluster = inZones('x', 'y');
    const first = pod({ labels: { app: 'web' }, spec: { affinity: near({ app: 'web' }) } });
    expect(takers(cluster, first)).toEqual(['n0', 'n1']);
  });

  it('applies anti-affinity of the pod and of existing pods', () => {
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
    const fields = { objects: { namespaceLabels } };
    expect(takers(cluster, pod({ spec: { affinity } }), fields)).toEqual(['n1']);
  });

  it('scores preferences of the pod and of existing pods', () => {
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
    expect(scores(interPodAffinity(), candidate, cluster)).toEqual([100, 0, 50]);
    const friend = info({ name: 'friend', spec: { affinity: near({}) } });
    cluster.setPod(friend, 'n2');
    expect(scores(interPodAffinity(100), candidate, cluster)).toEqual([66, 0, 100]);
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

  it('limits the skew and requires the label', () => {
    const cluster = inZones('x', 'x', 'y');
    cluster.setNode(node('bare'));
    cluster.setPod(podInfo(web('DoNotSchedule', 'one')), 'n0');
    expect(takers(cluster, web('DoNotSchedule'))).toEqual(['n2']);
    cluster.setPod(podInfo(web('DoNotSchedule', 'two')), 'n2');
    expect(takers(cluster, web('DoNotSchedule'))).toEqual(['n0', 'n1', 'n2']);
  });

  it('prefers the emptier domain for soft constraints', () => {
    const cluster = inZones('x', 'y');
    cluster.setPod(podInfo(web('ScheduleAnyway', 'one')), 'n0');
    const [onX, onY] = scores(podTopologySpread([]), podInfo(web('ScheduleAnyway')), cluster);
    expect(onY).toBeGreaterThan(onX!);
  });

  it('spreads the pods of a service by default over nodes that have host and zone', () => {
    const labelsOf = (name: string) => ({
      [dialect().key('hostname')]: name,
      [dialect().key('zone', 'topology')]: `zone-${name}`,
    });
    const cluster = clusterOf(
      ...['a', 'b'].map((name) => node(name, { labels: labelsOf(name) })),
      node('bare'),
    );
    cluster.setPod(info({ name: 'one', labels: { app: 'web' } }), 'a');
    const objects = { services: () => [{ spec: { selector: { app: 'web' } } }] };
    const plugin = podTopologySpread(systemConstraints());
    const of = (app: string) =>
      scoresOf(plugin, cycleOf(info({ labels: { app } }), cluster, { objects }));
    expect(of('web').b).toBeGreaterThan(of('web').a!);
    expect(of('web').bare).toBe(0);
    expect(of('other')).toEqual({ a: 0, b: 0, bare: 0 });
  });
});

import { dialect } from '@orch/component';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { NodeInfo } from '../model/node-info.js';
import { clusterOf, info, node } from '../testing/builders.js';
import { type ClusterView, Snapshot } from './snapshot.js';

const images = ['a:1', 'b:1'];
const hostPort = { protocol: 'TCP', port: 80, ip: '0.0.0.0' };

function content(view: ClusterView) {
  const names = (nodes: Iterable<NodeInfo>) => [...nodes].map(({ name }) => name).sort();
  return {
    nodes: Object.fromEntries(
      [...view.nodes]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((each) => [
          each.name,
          {
            pods: [...each.pods.keys()].sort(),
            ...{ requested: each.requested, forScoring: each.requestedForScoring },
            ...{ labels: each.labels, hasPort: each.hasPortConflict(hostPort) },
            podCount: each.derive('pod count', (pods) => pods.size),
          },
        ]),
    ),
    withAffinity: names(view.nodesWithAffinity),
    withAntiAffinity: names(view.nodesWithRequiredAntiAffinity),
    holders: images.map((image) => view.imageHolderCount(image)),
  };
}

const antiAffinity = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', labelSelector: {} }],
    },
  },
};

const withHostPort = {
  containers: [{ name: 'main', image: 'app', ports: [{ containerPort: 80, hostPort: 80 }] }],
};

it('is the same after any sequence of changes as one from scratch', () => {
  const step = fc.record({
    action: fc.constantFrom('set', 'assume', 'forget', 'remove', 'node', 'unnode', 'snapshot'),
    pod: fc.nat(5),
    node: fc.nat(3),
    variant: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = clusterOf();
      for (const { action, pod, node: n, variant } of steps) {
        const name = `n${n}`;
        const spec = pod % 2 === 0 ? withHostPort : antiAffinity;
        const placed = info({ name: `p${pod}`, requests: { cpu: `${variant}` }, spec });
        if (action === 'set') cache.setPod(placed, name);
        else if (action === 'assume') {
          if (cache.nodeOf(placed.key) === undefined) cache.assume(placed, name);
        } else if (action === 'forget') cache.forget(placed.key);
        else if (action === 'remove') cache.removePod(placed.key);
        else if (action === 'unnode') cache.removeNode(name);
        else if (action === 'snapshot') content(cache.snapshot());
        else {
          const object = node(name, {
            labels: { [dialect().key('zone', 'topology')]: `z${variant}` },
          });
          object.status!.images = images.slice(variant).map((image) => ({ names: [image] }));
          cache.setNode(object);
        }
      }
      const scratch = new Snapshot();
      scratch.update(['n0', 'n1', 'n2', 'n3'], (name) => cache.node(name)?.clone());
      expect(content(cache.snapshot())).toEqual(content(scratch));
    }),
    { numRuns: 500 },
  );
});

it('does not change while the cache does', () => {
  const cache = clusterOf(node('n'));
  const snapshot = cache.snapshot();
  cache.setPod(info(), 'n');
  expect(snapshot.node('n')!.pods.size).toBe(0);
  expect(cache.snapshot().node('n')!.pods.size).toBe(1);
});

it('alternates nodes of different zones', () => {
  const inZone = (name: string, zone: string) =>
    node(name, { labels: { [dialect().key('zone', 'topology')]: zone } });
  const cache = clusterOf(
    inZone('a1', 'a'),
    inZone('a2', 'a'),
    inZone('a3', 'a'),
    inZone('b', 'b'),
  );
  expect(cache.snapshot().nodes.map(({ name }) => name)).toEqual(['a1', 'b', 'a2', 'a3']);
});

import type { Node } from '@orch/types/core/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PodRoute, podRoutes, routeChanges } from './route-plan.js';

const node = (name: string, address: string, created: number, ...podCIDRs: string[]): Node => ({
  metadata: { name, creationTimestamp: `2021-06-01T00:00:0${created}Z` },
  spec: { podCIDRs },
  status: {
    addresses: [
      { type: 'Hostname', address: name },
      { type: 'InternalIP', address },
    ],
  },
});
const routesOf = (...nodes: Node[]) =>
  podRoutes(
    nodes,
    '10.0.0.0/8',
    new Set(['192.0.2.1', '10.0.0.1']),
    ({ spec }) => spec?.podCIDRs ?? [],
  ).map(({ range, via }) => `${range} ${via}`);

describe('podRoutes', () => {
  it('lead to the nodes of other machines', () => {
    expect(
      routesOf(
        node('local', '192.0.2.1', 0, '10.0.0.0/24'),
        node('loopback', '127.0.0.1', 0, '10.0.1.0/24'),
        node('other', '192.0.2.2', 0, '10.0.2.7/24', 'fd00::/64'),
        node('v6', 'fd00::1', 0, '10.0.3.0/24'),
        node('pending', '192.0.2.3', 0),
      ),
    ).toEqual(['10.0.2.0/24 192.0.2.2']);
  });

  it.each([
    ['everything', '0.0.0.0/0'],
    ['more than the range of pods', '10.0.0.0/7'],
    ['another network', '192.0.2.0/24'],
    ['no network', 'x'],
  ])('ignore a node that claims %s', (_, range) => {
    expect(routesOf(node('n', '192.0.2.2', 0, range))).toEqual([]);
  });

  it('give a range that several nodes claim to the oldest, also to a local one', () => {
    expect(
      routesOf(
        node('young', '192.0.2.3', 2, '10.0.0.0/16'),
        node('old', '192.0.2.2', 1, '10.0.2.0/24'),
      ),
    ).toEqual(['10.0.2.0/24 192.0.2.2']);
    expect(
      routesOf(
        node('young', '192.0.2.3', 2, '10.0.2.0/24'),
        node('local', '192.0.2.1', 1, '10.0.2.0/24'),
      ),
    ).toEqual([]);
  });
});

describe('routeChanges', () => {
  it('turn any routes into the wanted ones', () => {
    const routes = fc.uniqueArray(
      fc.record({ range: fc.constantFrom('a', 'b', 'c'), via: fc.constantFrom('x', 'y') }),
      { selector: ({ range }) => range },
    );
    const keys = (list: readonly PodRoute[]) => list.map(({ range, via }) => range + via).sort();
    fc.assert(
      fc.property(routes, routes, (present, wanted) => {
        const { added, removed } = routeChanges(present, wanted);
        const removedKeys = new Set(keys(removed));
        const left = present.filter((route) => !removedKeys.has(route.range + route.via));
        expect(keys([...left, ...added])).toEqual(keys(wanted));
      }),
    );
  });
});

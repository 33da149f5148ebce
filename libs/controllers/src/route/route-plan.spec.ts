import type { Node } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { planRoutes } from './route-plan.js';

const node = (name: string, ...podCIDRs: string[]): Node => ({
  metadata: { name },
  spec: { podCIDRs },
});
const route = (nodeName: string, destination: string) => ({ nodeName, destination });
const cluster = ['10.0.0.0/16', 'fd00::/48'];

describe('planRoutes', () => {
  it('creates a route to each range of a node, and none to a node without', () => {
    const nodes = [node('a', '10.0.1.0/24', 'fd00::/64'), node('b'), node('c', '10.0.3.0/24')];
    expect(planRoutes(nodes, [route('c', '10.0.3.0/24')], cluster)).toEqual({
      missing: [route('a', '10.0.1.0/24'), route('a', 'fd00::/64')],
      superfluous: [],
    });
  });

  it.each([
    ['a node that is gone', route('gone', '10.0.9.0/24')],
    ['another range than the node has', route('a', '10.0.9.0/24')],
    ['the range through another node', route('b', '10.0.1.0/24')],
    ['an IPv6 range that no node has', route('a', 'fd00:0:0:1::/64')],
  ])('deletes a route to %s', (_, present) => {
    const nodes = [node('a', '10.0.1.0/24'), node('b')];
    expect(planRoutes(nodes, [route('a', '10.0.1.0/24'), present], cluster)).toEqual({
      missing: [],
      superfluous: [present],
    });
  });

  it.each(['192.168.0.0/24', '10.1.0.0/24', 'fd01::/64', 'default'])(
    'leaves the route to %s alone, which is outside of the cluster',
    (destination) => {
      expect(planRoutes([], [route('a', destination)], cluster).superfluous).toEqual([]);
    },
  );
});

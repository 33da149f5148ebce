import { describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { excessTerminated, missingNodes, unscheduledTerminating } from './pods-to-collect.js';

const names = (pods: ReturnType<typeof pod>[]) => pods.map((one) => one.metadata?.name);

describe('pods to collect', () => {
  const pods = [
    pod({ name: 'new', phase: 'Succeeded', created: 30 }),
    pod({ name: 'old', phase: 'Failed', created: 10 }),
    pod({ name: 'mid', phase: 'Failed', created: 20 }),
    pod({ name: 'runs', created: 1 }),
    pod({ name: 'going', phase: 'Failed', deleting: true }),
  ];

  it('are finished ones beyond the threshold, oldest first', () => {
    expect(names(excessTerminated(pods, 1))).toEqual(['old', 'mid']);
    expect(excessTerminated(pods, 3)).toEqual([]);
    expect(excessTerminated(pods, 0)).toEqual([]);
  });

  it('are terminating pods without a node', () => {
    const placed = pod({ name: 'placed', deleting: true, node: 'n' });
    expect(names(unscheduledTerminating([...pods, placed]))).toEqual(['going']);
  });

  it('are pods on missing nodes', () => {
    const own = [pod({ node: 'a' }), pod({ node: 'b' }), pod({ node: 'b' }), pod()];
    expect([...missingNodes(own, new Set(['a']))]).toEqual(['b']);
  });
});

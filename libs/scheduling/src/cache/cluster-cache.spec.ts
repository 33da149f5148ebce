import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterOf, info, ManualClock, node } from '../testing/builders.js';
import { ClusterCache } from './cluster-cache.js';

const request = { cpu: '500m', memory: '1Gi' };

describe('ClusterCache', () => {
  it('counts an assumed pod immediately, and only once after its confirmation', () => {
    const cache = clusterOf(node('n1'), node('n2'));
    const pod = info({ requests: request });
    cache.assume(pod, 'n1');
    expect(cache.node('n1')!.requested.milliCpu).toBe(500);
    cache.setPod(pod, 'n1');
    cache.bound(pod.key);
    expect(cache.node('n1')!.requested.milliCpu).toBe(500);
    expect(cache.assumedPodCount).toBe(0);
  });

  it('follows the watch if the pod is on another node than assumed', () => {
    const cache = clusterOf(node('n1'), node('n2'));
    const pod = info({ requests: request });
    cache.assume(pod, 'n1');
    cache.setPod(pod, 'n2');
    expect(cache.node('n1')!.requested.milliCpu).toBe(0);
    expect(cache.nodeOf(pod.key)).toBe('n2');
  });

  it('drops an assumption after a failed binding and after its expiry', () => {
    const clock = new ManualClock();
    const cache = new ClusterCache(clock);
    cache.setNode(node('n1'));
    const [failed, silent] = [info({ name: 'failed' }), info({ name: 'silent' })];
    cache.assume(failed, 'n1');
    cache.forget(failed.key);
    cache.assume(silent, 'n1');
    clock.timeMs += 1_000_000;
    expect(cache.expire()).toEqual([]);
    cache.bound(silent.key);
    clock.timeMs += 30_000;
    expect(cache.expire()).toEqual([silent.key]);
    expect(cache.podCount).toBe(0);
  });

  it('retains the pods of a node that is removed and added again', () => {
    const cache = clusterOf(node('n1'));
    cache.setPod(info({ requests: request }), 'n1');
    cache.removeNode('n1');
    expect(cache.snapshot().nodes).toEqual([]);
    cache.setNode(node('n1'));
    expect(cache.node('n1')!.requested.milliCpu).toBe(500);
  });

  it('has the same sums as a recount after any sequence of changes', () => {
    const step = fc.record({
      action: fc.constantFrom('set', 'assume', 'forget', 'remove', 'node', 'unnode'),
      pod: fc.nat(5),
      node: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = clusterOf(node('n0'));
        const pods = Array.from({ length: 6 }, (_, index) =>
          info({
            name: `p${index}`,
            requests: { cpu: `${index + 1}`, 'example.com/gpu': `${index}` },
            spec: {
              overhead: { memory: '1Mi' },
              ...(index % 2 === 1 && { hostNetwork: true }),
            },
          }),
        );
        for (const { action, pod, node: n } of steps) {
          const entry = pods[pod]!;
          if (action === 'set') cache.setPod(entry, `n${n}`);
          else if (action === 'assume') {
            if (cache.nodeOf(entry.key) === undefined) cache.assume(entry, `n${n}`);
          } else if (action === 'forget') cache.forget(entry.key);
          else if (action === 'remove') cache.removePod(entry.key);
          else if (action === 'node') cache.setNode(node(`n${n}`));
          else cache.removeNode(`n${n}`);
          // Snapshots in between must not change the last one.
          if (n === 0) cache.snapshot();
        }
        for (const each of cache.snapshot().nodes) {
          const held = pods.filter((entry) => cache.nodeOf(entry.key) === each.name);
          expect([...each.pods.keys()].sort()).toEqual(held.map((entry) => entry.key).sort());
          const sum = (of: (index: number) => number) =>
            held.reduce((total, entry) => total + of(pods.indexOf(entry)), 0);
          expect(each.requested.milliCpu).toBe(sum((index) => (index + 1) * 1_000));
          expect(each.requested.memoryBytes).toBe(sum(() => 1024 * 1024));
          expect(each.requested.others?.get('example.com/gpu') ?? 0).toBe(sum((index) => index));
        }
      }),
      { numRuns: 50 },
    );
  });
});

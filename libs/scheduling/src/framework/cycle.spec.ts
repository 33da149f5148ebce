import type { Node, Pod } from '@orch/types/core/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { podInfo } from '../model/pod-info.js';
import { balancedAllocation, leastAllocated } from '../plugins/resource-scores.js';
import { nodeResourcesFit } from '../plugins/resources-fit.js';
import {
  clusterOf,
  cycleOf,
  decide,
  info,
  node,
  pod,
  profileOf,
  reasonsOf,
  scoresOf,
  search,
} from '../testing/builders.js';
import { feasibleNodeCountToFind, findFeasible } from './filtering.js';

describe('a cycle', () => {
  it('reports the reasons of infeasible nodes, counted and sorted', () => {
    const cluster = clusterOf(
      node('small', { allocatable: { cpu: '1', memory: '1Gi' } }),
      node('small2', { allocatable: { cpu: '1' } }),
      node('tainted', { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] }),
      node('cordoned', { unschedulable: true }),
      node('full', { allocatable: { pods: '0' } }),
    );
    const big = info({ requests: { cpu: '2', memory: '2Gi' } });
    expect(decide(cycleOf(big, cluster))).toBe(
      "0/5 nodes are available: 1 Insufficient memory, 1 Too many pods, 1 node(s) had taint {dedicated: db}, that the pod didn't tolerate, 1 node(s) were unschedulable, 2 Insufficient cpu.",
    );
  });

  it('reports a cluster without nodes', () => {
    expect(decide(cycleOf(info(), clusterOf()))).toBe('no nodes available to schedule pods');
  });

  it('selects among equal scores with equal probability', () => {
    const cluster = clusterOf(node('a'), node('b'), node('c'));
    const counts = new Map<string, number>();
    const profile = profileOf();
    let seed = 7;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    for (let round = 0; round < 3_000; round++) {
      const chosen = decide(cycleOf(info(), cluster, { random }), profile);
      counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(850);
  });

  it('searches a share of a large cluster and continues there in the next cycle', () => {
    const cluster = clusterOf(...Array.from({ length: 1_000 }, (_, index) => node(`n${index}`)));
    const cycle = cycleOf(info(), cluster);
    const first = findFeasible(cycle, profileOf(), search);
    expect(first).toMatchObject({ evaluatedNodeCount: 420, nextStart: 420 });
    const second = findFeasible(cycle, profileOf(), { ...search, start: 900 });
    expect(second).toMatchObject({ evaluatedNodeCount: 420, nextStart: 320 });
  });

  it('computes the sample size like upstream', () => {
    const wanted = (count: number, percentage = 0) => feasibleNodeCountToFind(count, percentage);
    expect([wanted(10), wanted(99), wanted(1_000), wanted(5_000), wanted(10_000)]).toEqual([
      10, 99, 420, 500, 500,
    ]);
    expect([wanted(1_000, 100), wanted(1_000, 40), wanted(200, 10)]).toEqual([1_000, 400, 100]);
  });

  it('places a thousand pods evenly over ten equal nodes', () => {
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const cluster = clusterOf(
      ...names.map((name) => node(name, { allocatable: { cpu: '20', pods: '200' } })),
    );
    const profile = profileOf();
    for (let index = 0; index < 1_000; index++) {
      const next = info({ name: `p${index}`, requests: { cpu: '100m', memory: '10Mi' } });
      cluster.assume(next, decide(cycleOf(next, cluster), profile));
    }
    expect(names.map((name) => cluster.node(name)!.pods.size)).toEqual(names.map(() => 100));
  });
});

describe('fit and resource scores (naive implementation)', () => {
  const amount = fc.record({ cpu: fc.nat(4_000), memory: fc.nat(4_000) });
  const podParts = fc.record({
    containers: fc.array(fc.option(amount, { nil: undefined }), { minLength: 1, maxLength: 3 }),
    initContainers: fc.array(amount, { maxLength: 2 }),
    overhead: fc.option(amount, { nil: undefined }),
  });
  type PodShape = typeof podParts extends fc.Arbitrary<infer T> ? T : never;
  type Amount = { cpu: number; memory: number };
  const written = ({ cpu, memory }: Amount) => ({ cpu: `${cpu}m`, memory: `${memory}Ki` });

  function build(shape: PodShape, name: string): Pod {
    const container = (requests: Amount | undefined, index: number) => ({
      name: `c${index}`,
      resources: requests ? { requests: written(requests) } : {},
    });
    return pod({
      name,
      spec: {
        containers: shape.containers.map(container),
        initContainers: shape.initContainers.map(container),
        ...(shape.overhead && { overhead: written(shape.overhead) }),
      },
    });
  }

  const assumed: Amount = { cpu: 100, memory: 200 * 1024 };
  const none: Amount = { cpu: 0, memory: 0 };
  function naive(shape: PodShape, absent: Amount): Amount {
    const total = (key: 'cpu' | 'memory') =>
      Math.max(
        shape.containers.reduce((sum, container) => sum + (container ?? absent)[key], 0),
        ...shape.initContainers.map((container) => container[key]),
      ) + (shape.overhead?.[key] ?? 0);
    return { cpu: total('cpu'), memory: total('memory') };
  }

  it('agree', () => {
    const nodeParts = fc.record({ cpu: fc.nat(12_000), memory: fc.nat(12_000), pods: fc.nat(4) });
    fc.assert(
      fc.property(
        fc.array(nodeParts, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(podParts, fc.nat(3)), { maxLength: 6 }),
        podParts,
        (nodes, placed, incoming) => {
          const cluster = clusterOf(
            ...nodes.map(
              (parts, index): Node =>
                node(`n${index}`, { allocatable: { ...written(parts), pods: `${parts.pods}` } }),
            ),
          );
          placed.forEach(([shape, on], index) => {
            cluster.setPod(podInfo(build(shape, `p${index}`)), `n${on % nodes.length}`);
          });
          const next = podInfo(build(incoming, 'incoming'));
          const cycle = cycleOf(next, cluster);
          const reasons = reasonsOf(nodeResourcesFit(), cycle);
          const leastScores = scoresOf(leastAllocated(), cycle);
          const balancedScores = scoresOf(balancedAllocation, cycle);
          nodes.forEach((parts, index) => {
            const here = placed.filter(([, on]) => on % nodes.length === index).map(([s]) => s);
            const sum = (absent: Amount, key: 'cpu' | 'memory', shapes: PodShape[]) =>
              shapes.reduce((total, shape) => total + naive(shape, absent)[key], 0);
            const need = naive(incoming, none);
            const asksNothing = need.cpu === 0 && need.memory === 0;
            const expected =
              here.length + 1 <= parts.pods &&
              (asksNothing ||
                (need.cpu + sum(none, 'cpu', here) <= parts.cpu &&
                  need.memory + sum(none, 'memory', here) <= parts.memory));
            expect(reasons[`n${index}`]!.length === 0).toBe(expected);

            const used = (key: 'cpu' | 'memory') => sum(assumed, key, [...here, incoming]);
            const free = (key: 'cpu' | 'memory') =>
              parts[key] === 0 || used(key) > parts[key]
                ? 0
                : Math.floor(((parts[key] - used(key)) * 100) / parts[key]);
            const share = (key: 'cpu' | 'memory') =>
              parts[key] === 0 ? 1 : Math.min(used(key) / parts[key], 1);
            const balanced = Math.floor((1 - Math.abs(share('cpu') - share('memory'))) * 100);
            const least = Math.floor((free('cpu') + free('memory')) / 2);
            expect(balancedScores[`n${index}`]).toBe(balanced);
            expect(leastScores[`n${index}`]).toBe(least);
          });
        },
      ),
      { numRuns: 200 },
    );
  });
});

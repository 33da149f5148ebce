import { resources } from '@orch/client';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { ttlController } from './ttl-controller.js';
import { nextStep, ttlSecondsOf } from './ttl-plan.js';

describe('nextStep', () => {
  it.each([
    [0, 0, 0],
    [0, 100, 0],
    [0, 101, 15],
    [0, 5_000, 300],
    [1, 90, 15],
    [1, 89, 0],
    [4, 1_800, 300],
    [4, 1_799, 60],
    [4, 1, 0],
  ])('from step %i with %i nodes', (step, nodeCount, seconds) => {
    expect(ttlSecondsOf(nextStep(step, nodeCount))).toBe(seconds);
  });

  it('does not change again for the same number of nodes', () => {
    fc.assert(
      fc.property(fc.nat(4), fc.nat(3_000), (step, nodeCount) => {
        const next = nextStep(step, nodeCount);
        expect(nextStep(next, nodeCount)).toBe(next);
      }),
    );
  });
});

describe('ttlController', () => {
  const annotation = 'node.alpha.orch.io/ttl';
  let harness: ControllerHarness;
  const seed = (index: number) =>
    harness.server.seed(resources.nodes, { metadata: { name: `n${index}` } });
  const ttls = () =>
    new Set(
      harness.server
        .list(resources.nodes)
        .map(({ metadata }) => metadata?.annotations?.[annotation]),
    );

  beforeEach(() => {
    harness = new ControllerHarness([ttlController]);
  });
  afterEach(() => harness.stop());

  it('follows the size of the cluster', async () => {
    for (let index = 0; index < 100; index++) seed(index);
    await harness.start();
    expect(ttls()).toEqual(new Set(['0']));
    seed(100);
    await harness.settle();
    expect(ttls()).toEqual(new Set(['15']));
    const nodes = harness.client.resource(resources.nodes);
    await nodes.delete('n0');
    await harness.settle();
    expect(ttls()).toEqual(new Set(['15']));
    for (let index = 1; index <= 11; index++) await nodes.delete(`n${index}`);
    await harness.settle();
    expect(ttls()).toEqual(new Set(['0']));
  });

  it('repairs an annotation that another client changed', async () => {
    seed(1);
    await harness.start();
    harness.server.change(resources.nodes, 'n1', (node) => ({
      ...node,
      metadata: { ...node.metadata, annotations: { [annotation]: 'x', mine: 'y' } },
    }));
    await harness.settle();
    const { annotations } = harness.server.get(resources.nodes, 'n1')!.metadata!;
    expect(annotations).toEqual({ [annotation]: '0', mine: 'y' });
  });
});

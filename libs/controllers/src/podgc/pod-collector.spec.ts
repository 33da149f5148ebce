import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { podCollector } from './pod-collector.js';

describe('podCollector', () => {
  let harness: ControllerHarness;
  beforeEach(() => {
    const flags = ['--terminated-pod-gc-threshold=1'];
    harness = new ControllerHarness([podCollector], { flags });
  });
  afterEach(() => harness.stop());

  it('deletes the pods of a deleted node after the quarantine, and no others', async () => {
    harness.server.seed(resources.nodes, { metadata: { name: 'alive' } });
    harness.server.seed(resources.pods, pod({ name: 'lost', node: 'deleted' }));
    harness.server.seed(resources.pods, pod({ name: 'fine', node: 'alive' }));
    await harness.start();
    await harness.advance(30_000);
    expect(harness.names(resources.pods)).toEqual(['fine', 'lost']);
    await harness.advance(40_000);
    expect(harness.names(resources.pods)).toEqual(['fine']);
  });

  it('deletes the oldest finished pods above the threshold', async () => {
    for (const [index, name] of ['new', 'old', 'older'].entries()) {
      const finished = pod({ name, phase: 'Succeeded', created: -index });
      harness.server.seed(resources.pods, finished);
    }
    await harness.start();
    expect(harness.names(resources.pods)).toEqual(['new']);
  });
});

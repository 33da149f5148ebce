import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controllers } from '../manager/registry.js';
import { ControllerHarness } from '../testing/controller-harness.js';

describe('DefinitionWatch', () => {
  let harness: ControllerHarness;

  beforeEach(async () => {
    harness = new ControllerHarness([controllers.garbagecollector!, controllers.resourcequota!]);
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('lists definitions once for the garbage collector and the quotas', () => {
    const { plural } = resources.customResourceDefinitions;
    const lists = harness.server.requests.filter(
      ({ method, resource }) => method === 'GET' && resource.plural === plural,
    );
    // The garbage collector lists the definitions once more, as objects with owners.
    expect(lists.length).toBe(2);
  });
});

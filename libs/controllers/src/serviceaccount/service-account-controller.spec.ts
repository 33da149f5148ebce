import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { serviceAccountController } from './service-account-controller.js';

describe('serviceAccountController', () => {
  let harness: ControllerHarness;
  beforeEach(async () => {
    harness = new ControllerHarness([serviceAccountController]);
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('creates the account default in every namespace, also a later one', async () => {
    await harness.client.resource(resources.namespaces).create({ metadata: { name: 'shop' } });
    await harness.settle();
    expect(harness.names(resources.serviceAccounts, 'default')).toEqual(['default']);
    expect(harness.names(resources.serviceAccounts, 'shop')).toEqual(['default']);
  });

  it('creates it again when a user deletes it', async () => {
    await harness.client.resource(resources.serviceAccounts, 'default').delete('default');
    await harness.settle();
    expect(harness.names(resources.serviceAccounts, 'default')).toEqual(['default']);
  });

  it('creates accounts for namespaces that appeared while it was stopped', async () => {
    await harness.stop();
    harness.server.seed(resources.namespaces, { metadata: { name: 'late' } });
    await harness.start();
    expect(harness.names(resources.serviceAccounts, 'late')).toEqual(['default']);
  });

  it('leaves a namespace alone that is being deleted', async () => {
    await harness.client.resource(resources.namespaces).delete('default');
    await harness.client.resource(resources.serviceAccounts, 'default').delete('default');
    await harness.settle();
    expect(harness.names(resources.serviceAccounts, 'default')).toEqual([]);
  });
});

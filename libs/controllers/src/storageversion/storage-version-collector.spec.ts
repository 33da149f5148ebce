import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { storageVersionCollector } from './storage-version-collector.js';

const namespace = 'orch-system';

describe('storageVersionCollector', () => {
  let harness: ControllerHarness;

  const seedLease = (name: string, component = 'orch-apiserver') =>
    harness.server.seed(resources.leases, {
      metadata: { name, namespace, labels: { 'orch.io/component': component } },
    });
  const seed = (name: string, versions: Record<string, string>) => {
    const entries = Object.entries(versions);
    harness.server.seed(resources.storageVersions, {
      metadata: { name },
      spec: {},
      status: {
        storageVersions: entries.map(([apiServerID, encodingVersion]) => ({
          ...{ apiServerID, encodingVersion, decodableVersions: [encodingVersion] },
        })),
      },
    });
  };
  const status = (name: string) => harness.server.get(resources.storageVersions, name)?.status;
  const servers = (name: string) =>
    status(name)?.storageVersions?.map(({ apiServerID }) => apiServerID);
  const create = (gates: Record<string, boolean>) => {
    harness = new ControllerHarness([storageVersionCollector], { gates });
  };

  beforeEach(() => create({ APIServerIdentity: true, StorageVersionAPI: true }));
  afterEach(() => harness.stop());

  it('removes servers without a lease and computes the common version again', async () => {
    seedLease('a');
    seedLease('b');
    seedLease('other', 'orch-scheduler');
    seed('core.pods', { a: 'v1', b: 'v1', gone: 'v2', other: 'v2' });
    await harness.start();
    expect(servers('core.pods')).toEqual(['a', 'b']);
    expect(status('core.pods')).toMatchObject({
      commonEncodingVersion: 'v1',
      conditions: [
        { type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet' },
      ],
    });
  });

  it('follows the deletion of a lease, and deletes what no server is left for', async () => {
    seedLease('a');
    seedLease('b');
    seed('core.pods', { a: 'v1', b: 'v2' });
    seed('core.nodes', { b: 'v1' });
    await harness.start();
    await harness.client.resource(resources.leases, namespace).delete('b');
    await harness.settle();
    expect(servers('core.pods')).toEqual(['a']);
    expect(harness.names(resources.storageVersions)).toEqual(['core.pods']);
  });

  it('writes nothing while all servers are present', async () => {
    seedLease('a');
    seed('core.pods', { a: 'v1' });
    await harness.start();
    await harness.advance(60_000);
    expect(harness.server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it.each(['APIServerIdentity', 'StorageVersionAPI'])('does nothing without %s', async (gate) => {
    create({ APIServerIdentity: true, StorageVersionAPI: true, [gate]: false });
    seed('core.pods', { gone: 'v1' });
    await harness.start();
    expect(servers('core.pods')).toEqual(['gone']);
  });
});

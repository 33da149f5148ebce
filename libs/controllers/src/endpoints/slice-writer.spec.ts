import { ApiError, InformerFactory, resources } from '@orch/client';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { quietLogger } from '../../../client/test/support.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { SliceWriter } from './slice-writer.js';
import { managedByLabel, serviceNameLabel, sliceManager } from './slices.js';

const owner = { kind: 'Service', namespace: 'default', name: 'web' } as const;
const key = 'default/web';
const none = { creates: [], updates: [], deletes: [] };
const slice = (): EndpointSlice => ({
  metadata: {
    generateName: 'web-',
    namespace: 'default',
    labels: { [serviceNameLabel()]: 'web', [managedByLabel()]: sliceManager() },
  },
  addressType: 'IPv4',
  endpoints: [],
});

describe('SliceWriter', () => {
  const clock = new TestClock();
  let server: MemoryApiServer;
  let informers: InformerFactory;
  let writer: SliceWriter;
  let written: string[];
  const names = () => server.list(resources.endpointSlices).map(({ metadata }) => metadata?.name);
  const rejectNext = (method: string, error: ApiError) =>
    server.interceptNext(method, resources.endpointSlices, () => {
      throw error;
    });

  beforeEach(() => {
    server = new MemoryApiServer({ clock, random: Math.random });
    const client = new MemoryApiClient(server);
    informers = new InformerFactory({ client, logger: quietLogger, clock, random: () => 0 });
    written = [];
    writer = new SliceWriter({ client, informers, clock }, sliceManager(), {
      written: (operation) => written.push(operation),
    });
  });
  afterEach(() => informers.stop());

  it('reports a cache without the slices that it created, until they arrive', async () => {
    await writer.write(owner, { ...none, creates: [slice(), slice()] });
    expect(writer.isCacheCurrent(key)).toBe(false);
    informers.start();
    await informers.whenSynced(1_000);
    expect(writer.isCacheCurrent(key)).toBe(true);
  });

  it('waits for no slice whose creation failed, and names the operation and the owner', async () => {
    rejectNext('POST', new ApiError(500, 'InternalError', 'no leader'));
    await expect(writer.write(owner, { ...none, creates: [slice()] })).rejects.toThrow(
      'failed to create EndpointSlice for Service default/web: no leader',
    );
    expect(writer.isCacheCurrent(key)).toBe(true);
    expect(written).toEqual([]);
  });

  it('deletes only the slice that was read', async () => {
    const metadata = { ...slice().metadata, name: 'a' };
    const first = server.seed(resources.endpointSlices, { ...slice(), metadata });
    const stale = { ...first, metadata: { ...first.metadata, uid: 'other' } };
    await writer.write(owner, { ...none, deletes: [stale] });
    expect(names()).toEqual(['a']);
    expect(written).toEqual([]);
    await writer.write(owner, { ...none, deletes: [first] });
    expect(names()).toEqual([]);
    expect(written).toEqual(['delete']);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import type { ApiObject } from '../objects.js';
import { RestClient } from '../rest/rest-client.js';
import { byControllerUid } from './indexers.js';
import { Informer } from './informer.js';
import { InformerFactory } from './informer-factory.js';

const pods = { group: 'core', version: 'v1', plural: 'pods' };
const path = (name: string) => `/api/v1/namespaces/default/pods/${name}`;

describe('Informer', () => {
  let server: TestApiServer;
  let client: RestClient;
  let informer: Informer<ApiObject>;
  let seen: string[];

  beforeEach(async () => {
    server = new TestApiServer();
    client = new RestClient({ servers: [await server.start()] });
    seen = [];
    informer = new Informer<ApiObject>({
      client,
      resource: pods,
      logger: quietLogger,
      indexers: { app: ({ metadata }) => [metadata?.labels?.app ?? ''] },
    });
    informer.addHandlers({
      onAdd: (object) => seen.push(`+${object.metadata?.name}`),
      onUpdate: (object) => seen.push(`~${object.metadata?.name}`),
      onDelete: (object, known) => seen.push(`-${object.metadata?.name}${known ? '' : '?'}`),
    });
  });

  afterEach(async () => {
    await informer.stop();
    await client.close();
    await server.stop();
  });

  const started = async () => {
    informer.start();
    await informer.whenSynced(5_000);
    await eventually('the watch is open', () => server.watcherCount === 1);
  };

  it('drops the ownership of fields of listed and changed objects', async () => {
    const metadata = { labels: { app: 'x' }, managedFields: [{ manager: 'm' }] };
    server.put(path('a'), { metadata });
    await started();
    server.put(path('b'), { metadata });
    await eventually('both are seen', () => seen.length === 2);
    for (const object of informer.lister.list()) {
      expect(object.metadata).toMatchObject({ labels: metadata.labels });
      expect(object.metadata).not.toHaveProperty('managedFields');
    }
  });

  it('reports the end of the first list to early and late handlers', async () => {
    server.put(path('a'));
    informer.addHandlers({ onSynced: () => seen.push('synced') });
    await started();
    expect(seen).toEqual(['+a', 'synced']);
    informer.addHandlers({
      onAdd: () => seen.push('late +a'),
      onSynced: () => seen.push('late synced'),
    });
    expect(seen.slice(2)).toEqual(['late +a', 'late synced']);
  });

  it('lists at version 0, sets the types of items and follows changes', async () => {
    server.put(path('a'), { metadata: { labels: { app: 'x' } } });
    await started();
    expect(server.requests[0]?.url).toContain('resourceVersion=0');
    expect(informer.lister.get('default/a')).toMatchObject({ kind: 'Thing', apiVersion: 'v1' });
    expect(informer.lister.byIndex('app', 'x')).toHaveLength(1);
    server.put(path('a'), { metadata: { labels: { app: 'y' } } });
    server.put(path('b'));
    server.remove(path('a'));
    await eventually('all is seen', () => seen.length === 4);
    expect(seen).toEqual(['+a', '~a', '+b', '-a']);
    expect(informer.lister.byIndex('app', 'y')).toHaveLength(0);
    expect(informer.lister.list('default').map((pod) => pod.metadata?.name)).toEqual(['b']);
  });

  it('resumes a broken watch without a list and without missing an event', async () => {
    await started();
    server.breakWatches();
    server.put(path('a'));
    server.remove(path('a'));
    server.put(path('b'));
    await eventually('all is seen', () => seen.length === 3);
    expect(seen).toEqual(['+a', '-a', '+b']);
    expect(server.requests.filter((one) => !one.url.includes('watch='))).toHaveLength(1);
  });

  it('lists again when its version is compacted, and reports missed deletions', async () => {
    server.put(path('a'));
    server.put(path('b'));
    await started();
    server.breakWatches();
    server.remove(path('a'));
    server.put(path('c'));
    server.compact();
    await eventually('the deletion is seen', () => seen.includes('-a?'));
    await eventually('the new one is seen', () => seen.includes('+c'));
    const lists = server.requests.filter((one) => !one.url.includes('watch='));
    expect(lists[1]?.url).toMatch(/resourceVersion=12&resourceVersionMatch=NotOlderThan/);
  });

  it('lists without a version when no server has reached its version', async () => {
    server.put(path('a'));
    await started();
    server.breakWatches();
    server.compact();
    server.remove(path('a'));
    server.compact();
    const details = { causes: [{ reason: 'ResourceVersionTooLarge' }] };
    server.faults.push({ statusCode: 410 }, { statusCode: 504, details });
    await eventually('the deletion is seen', () => seen.includes('-a?'));
    const lists = server.requests.filter((one) => !one.url.includes('watch='));
    expect(lists.map(({ url }) => /resourceVersionMatch|resourceVersion/.exec(url)?.[0])).toEqual([
      'resourceVersion',
      'resourceVersion',
      undefined,
    ]);
  });

  it('resumes at a bookmark', async () => {
    server.put(path('a'));
    await started();
    server.put('/api/v1/namespaces/default/secrets/s');
    server.bookmark();
    await eventually('a later event', () => {
      server.put(path('a'));
      return seen.length > 1;
    });
    expect(informer.hasSynced()).toBe(true);
  });

  it('reports an object recreated under the same name as a deletion and an addition', async () => {
    server.put(path('a'));
    await started();
    server.breakWatches();
    server.remove(path('a'));
    server.put(path('a'));
    server.compact();
    await eventually('both are seen', () => seen.length === 3);
    expect(seen).toEqual(['+a', '-a?', '+a']);
  });

  it('is shared by the users of a factory, and replays objects to late handlers', async () => {
    server.put(path('a'), { metadata: { ownerReferences: [{ uid: 'o', controller: true }] } });
    const factory = new InformerFactory({ client, logger: quietLogger });
    const one = factory.informer<ApiObject>(pods);
    expect(factory.informer(pods)).toBe(one);
    one.addIndex('owner', byControllerUid);
    factory.start();
    await factory.whenSynced(5_000);
    const names: (string | undefined)[] = [];
    one.addHandlers({ onAdd: (object) => names.push(object.metadata?.name) });
    expect(names).toEqual(['a']);
    expect(one.lister.byIndex('owner', 'o')).toHaveLength(1);
    await factory.stop();
  });
});

/**
 * What a server does with the kind of docs/adding-a-kind.md.
 * `test/unit/adding-a-kind.server.spec.ts` runs it in a copy of the repository, as
 * `test/unit/backup-served.spec.ts`; here there is no such kind.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RunningServer } from '../../apps/apiserver/src/testing/running-server.js';

const collection = '/apis/archive/v1/namespaces/default/backups';
const example = parse(
  readFileSync(resolve(import.meta.dirname, '../../examples/api/backups.yaml'), 'utf8'),
) as { metadata: object; spec: object };

let server: RunningServer;
let created: { metadata: { resourceVersion: string } };
beforeAll(async () => {
  server = await RunningServer.start();
  created = await server.must('POST', collection, example);
}, 60_000);
afterAll(() => server.stop());

it('is created with its defaults and listed', async () => {
  expect(created).toMatchObject({
    kind: 'Backup',
    metadata: { name: 'orders', generation: 1 },
    spec: { claimName: 'orders', copies: 5, medium: 'Disk' },
    status: { copies: 0 },
  });
  const selected = (claim: string) =>
    server.must('GET', `${collection}?fieldSelector=spec.claimName%3D${claim}`);
  const found = await selected('orders');
  expect(found.kind).toBe('BackupList');
  expect(found.items.map(({ metadata }: typeof created) => metadata)).toEqual([created.metadata]);
  expect((await selected('others')).items).toEqual([]);
});

it('is refused when it breaks its rules', async () => {
  const answer = await server.call('POST', collection, { body: { metadata: { name: 'a' } } });
  expect(answer.code).toBe(422);
  expect(answer.body.details).toMatchObject({
    group: 'archive',
    kind: 'Backup',
    causes: [{ reason: 'FieldValueRequired', field: 'spec.claimName' }],
  });
});

it('is watched', async () => {
  const name = 'watched';
  await server.must('POST', collection, { ...example, metadata: { name } });
  await server.must('DELETE', `${collection}/${name}`);
  const query = `watch=true&resourceVersion=${created.metadata.resourceVersion}&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}`;
  const { text } = await server.call('GET', `${collection}?${query}`);
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: { kind: string } });
  expect(events.map(({ type, object }) => [type, object.kind])).toEqual([
    ['ADDED', 'Backup'],
    ['DELETED', 'Backup'],
  ]);
});

it('is shown as a table', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.orch.io';
  const { body } = await server.call('GET', collection, { headers: { accept } });
  expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
    'Name',
    'Claim',
    'Copies',
    'Age',
  ]);
  expect(body.rows[0].cells.slice(0, 3)).toEqual(['orders', 'orders', '0/5']);
});

it('is applied, and knows whose its fields are', async () => {
  const apply = (manager: string, spec: object) =>
    server.call('PATCH', `${collection}/applied?fieldManager=${manager}`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'archive/v1', kind: 'Backup', metadata: { name: 'applied' }, spec },
    });
  expect((await apply('anna', { claimName: 'orders', copies: 2 })).code).toBe(201);
  const conflict = await apply('ben', { claimName: 'orders', copies: 9 });
  expect(conflict.code).toBe(409);
  expect(conflict.body.details.causes).toMatchObject([{ field: '.spec.copies' }]);
});

it('has a status of its own', async () => {
  const path = `${collection}/orders`;
  const patch = (at: string, body: object) =>
    server.call('PATCH', at, {
      headers: { 'content-type': 'application/merge-patch+json' },
      body,
    });
  const ofSpec = await patch(path, { status: { copies: 1 } });
  expect(ofSpec.body.status).toEqual({ copies: 0 });
  const ofStatus = await patch(`${path}/status`, { spec: { copies: 9 }, status: { copies: 2 } });
  expect(ofStatus.body).toMatchObject({ spec: { copies: 5 }, status: { copies: 2 } });
});

it('is discovered, described and read as protobuf', async () => {
  const { resources } = await server.must('GET', '/apis/archive/v1');
  expect(resources).toMatchObject([
    { name: 'backups', kind: 'Backup', shortNames: ['bk'] },
    { name: 'backups/status', kind: 'Backup' },
  ]);
  const document = await server.must('GET', '/openapi/v3/apis/archive/v1');
  const { properties, required } = document.components.schemas['io.orch.api.archive.v1.BackupSpec'];
  expect(required).toEqual(['claimName']);
  expect(properties.copies).toMatchObject({
    description: 'Number of copies to retain. Older ones are deleted. Default: 3.',
    default: 3,
  });
  const accept = 'application/vnd.orch.protobuf';
  const binary = await server.call('GET', `${collection}/orders`, { headers: { accept } });
  expect(binary.headers['content-type']).toContain(accept);
});

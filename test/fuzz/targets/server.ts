/**
 * An API server process that receives nearly valid requests of every kind. It may refuse them; it
 * must not fail (500), hang, or grow without end.
 */
import assert from 'node:assert/strict';
import { dialect } from '@orch/component';
import fc from 'fast-check';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { ApiServer } from '../api-server.js';
import { jsonBody, protobufBody, yamlBody } from '../inputs/bodies.js';
import { jsonText } from '../inputs/json.js';
import { realisticObject, table, withServed } from '../inputs/objects.js';
import { configText, jsonPatch, strategicPatch } from '../inputs/patches.js';
import {
  acceptHeader,
  contentTypeHeader,
  escaped,
  queryText,
  requestPath,
} from '../inputs/requests.js';
import { hostileText } from '../inputs/text.js';
import { asyncTarget, type Target } from '../target.js';

interface Body {
  readonly contentType: string;
  readonly bytes: Buffer;
}

function bodyOf(contentType: string, bytes: fc.Arbitrary<Buffer | string>): fc.Arbitrary<Body> {
  return bytes.map((all) => ({ contentType, bytes: Buffer.from(all as Buffer) }));
}

function objectBody(served: ServedResource): fc.Arbitrary<Body> {
  return fc.oneof(
    { weight: 6, arbitrary: bodyOf('application/json', jsonBody(served)) },
    { weight: 1, arbitrary: bodyOf('application/yaml', yamlBody(served)) },
    { weight: 3, arbitrary: bodyOf(dialect().protobufMediaType, protobufBody(served)) },
  );
}

function patchBody(served: ServedResource): fc.Arbitrary<Body> {
  const text = (patch: fc.Arbitrary<unknown>) => patch.map(jsonText);
  return fc.oneof(
    bodyOf('application/json-patch+json', text(jsonPatch(served))),
    bodyOf('application/merge-patch+json', jsonBody(served)),
    bodyOf('application/strategic-merge-patch+json', text(strategicPatch(served))),
    bodyOf('application/apply-patch+yaml', configText(served)),
  );
}

const noBody = fc.constant<Body>({ contentType: '', bytes: Buffer.alloc(0) });

function collectionOf({ group, version, definition }: ServedResource): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${definition.namespaced ? '/namespaces/default' : ''}/${definition.plural}`;
}

const name = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom('a', 'a', 'b') },
  { weight: 1, arbitrary: hostileText.map((text) => escaped(text.slice(0, 300))) },
);
const part = fc.oneof(
  { weight: 10, arbitrary: fc.constant('') },
  {
    weight: 4,
    arbitrary: fc.constantFrom('/status', '/scale', '/finalize', '/binding', '/eviction'),
  },
  { weight: 2, arbitrary: fc.constantFrom('/log', '/exec', '/attach', '/token', '/proxy/x') },
);

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: Body;
}

/** Requests whose method, path and body fit together. */
function fittingCall(served: ServedResource): fc.Arbitrary<Call> {
  const collection = collectionOf(served);
  const named = fc.tuple(name, part).map(([one, below]) => `${collection}/${one}${below}`);
  const whole = fc.constant(collection);
  const call = (method: string, path: fc.Arbitrary<string>, body: fc.Arbitrary<Body>) =>
    fc.record({ method: fc.constant(method), path, body });
  return fc.oneof(
    {
      weight: 4,
      arbitrary: call('POST', fc.oneof({ weight: 3, arbitrary: whole }, named), objectBody(served)),
    },
    { weight: 4, arbitrary: call('PUT', named, objectBody(served)) },
    { weight: 6, arbitrary: call('PATCH', named, patchBody(served)) },
    { weight: 3, arbitrary: call('GET', fc.oneof(whole, named), noBody) },
    { weight: 1, arbitrary: call('DELETE', named, fc.oneof(noBody, objectBody(served))) },
  );
}

/** Requests with any method, path and body. */
function anyCall(served: ServedResource): fc.Arbitrary<Call> {
  return fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY'),
    path: requestPath,
    body: fc.oneof(noBody, objectBody(served), patchBody(served)),
  });
}

const request = withServed((served) =>
  fc.record({
    call: fc.oneof(
      { weight: 8, arbitrary: fittingCall(served) },
      { weight: 1, arbitrary: anyCall(served) },
    ),
    query: fc.oneof({ weight: 2, arbitrary: fc.constant('') }, { weight: 1, arbitrary: queryText }),
    accept: fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: acceptHeader },
    ),
    contentType: fc.oneof(
      { weight: 8, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: contentTypeHeader },
    ),
    authorization: fc.oneof(
      { weight: 30, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: hostileText.map((text) => `Bearer ${text}`) },
    ),
  }),
);

const checkEvery = 250;
/** Resident memory limit: above the heap limit, for buffers and the cache of the database. */
const residentBytesMax = 1024 * 1024 * 1024;

let server: ApiServer | undefined;
let requestCount = 0;

const witness = '/api/v1/namespaces/default/configmaps/witness';

async function openServer(): Promise<() => Promise<void>> {
  server = await ApiServer.start();
  await seed(server);
  return async () => {
    try {
      await check(server!);
    } finally {
      await server?.stop();
      server = undefined;
    }
  };
}

async function seed(to: ApiServer): Promise<void> {
  const made = await to.request({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ metadata: { name: 'witness' }, data: { a: 'b' } })),
  });
  assert.ok(made.statusCode === 201 || made.statusCode === 409, made.text);
  for (const served of table.served) await make(to, served);
}

/** Created again after a while, so that most requests find their object. */
async function make(to: ApiServer, served: ServedResource): Promise<void> {
  const body = Buffer.from(JSON.stringify(realisticObject(served)));
  const headers = { 'content-type': 'application/json' };
  const made = await to.request({ method: 'POST', path: collectionOf(served), headers, body });
  assert.ok(made.statusCode < 500, `${served.kind}: ${made.text}`);
}

async function check(of: ApiServer): Promise<void> {
  const ready = await of.request({ method: 'GET', path: '/readyz' });
  assert.equal(ready.statusCode, 200, ready.text);
  const read = await of.request({ method: 'GET', path: witness });
  assert.equal(read.statusCode, 200, read.text);
  assert.deepEqual(JSON.parse(read.text).data, { a: 'b' });
  assert.ok(of.residentBytes() < residentBytesMax, `${of.residentBytes()} bytes are resident`);
}

/** No request changes the witness, so it must read the same afterwards. */
function isOfWitness(path: string, method: string): boolean {
  return method !== 'GET' && (/configmaps/.test(path) || /namespaces\/default$/.test(path));
}

/** Status codes above 500 that are no fault: no node to stream from, a version in the future. */
const expectedOutcomes: ReadonlySet<number> = new Set([502, 503, 504, 507]);

const requests = asyncTarget(
  'server',
  request,
  async ({ input: { call, query, accept, contentType, authorization } }) => {
    assert.ok(server);
    const { method, path, body } = call;
    requestCount += 1;
    if (requestCount % checkEvery === 0) {
      await check(server);
      await seed(server);
    }
    if (isOfWitness(path, method) && path.includes('witness')) return;
    const sentType = contentType || body.contentType;
    const response = await server.request({
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: {
        ...(accept && { accept }),
        ...(sentType && { 'content-type': sentType }),
        ...(authorization && { authorization }),
      },
      body: body.bytes,
    });
    const shown = () => `${method} ${path}?${query} -> ${response.statusCode} ${response.text}`;
    assert.ok(response.statusCode < 500 || expectedOutcomes.has(response.statusCode), shown());
    if (response.statusCode >= 400 && response.contentType === 'application/json') {
      const status = JSON.parse(response.text || 'null') as {
        code?: number;
        paths?: unknown;
      } | null;
      assert.ok(!status?.code || status.code === response.statusCode, shown());
    }
  },
  { open: openServer, share: 0.1 },
);

export const serverTargets: readonly Target[] = [requests];

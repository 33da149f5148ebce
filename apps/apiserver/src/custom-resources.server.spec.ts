/**
 * Custom resources on a complete server: the life cycle of definitions, their versions and
 * conversion.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { dialect, ensureSelfSigned, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const definitions = `/apis/${dialect().group('apiextensions')}/v1/customresourcedefinitions`;
const open = {
  openAPIV3Schema: { type: 'object', [dialect().extension('preserve-unknown-fields')]: true },
};

let server: RunningServer;

beforeAll(async () => {
  server = await RunningServer.start();
}, 30_000);

afterAll(() => server.stop());

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: object;
  readonly [other: string]: unknown;
}

function definition(group: string, versions: readonly Version[], spec: object = {}) {
  return {
    apiVersion: `${dialect().group('apiextensions')}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions: versions.map((version, index) => ({
        served: true,
        storage: index === 0,
        schema: open,
        ...version,
      })),
      ...spec,
    },
  };
}

/** Returns the conditions by type, as `status reason`. */
async function conditionsOf(name: string): Promise<Record<string, string>> {
  const { status } = await server.must('GET', `${definitions}/${name}`);
  return Object.fromEntries(
    (status.conditions ?? []).map((one: Record<string, string>) => [
      one.type,
      `${one.status} ${one.reason}`,
    ]),
  );
}

async function establish(body: ReturnType<typeof definition>): Promise<void> {
  await server.must('POST', definitions, body);
  await vi.waitFor(async () =>
    expect(await conditionsOf(body.metadata.name)).toMatchObject({
      Established: 'True InitialNamesAccepted',
    }),
  );
}

async function change(name: string, patch: object): Promise<void> {
  const response = await server.call('PATCH', `${definitions}/${name}`, {
    body: patch,
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  expect(response.code, response.text).toBe(200);
}

function gears(group: string, version = 'v1'): string {
  return `/apis/${group}/${version}/namespaces/default/gears`;
}

function gear(group: string, name: string, spec: object, version = 'v1') {
  return { apiVersion: `${group}/${version}`, kind: 'Gear', metadata: { name }, spec };
}

describe('a definition', () => {
  it('serves and publishes its kind as soon as it is established', async () => {
    const group = 'published.example.com';
    const schema = {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { teeth: { type: 'integer' } } } },
      },
    };
    await establish(definition(group, [{ name: 'v1', schema }]));
    await server.must('POST', gears(group), gear(group, 'a', { teeth: 3 }));
    const { resources } = await server.must('GET', `/apis/${group}/v1`);
    expect(resources).toMatchObject([{ name: 'gears', singularName: 'gear', kind: 'Gear' }]);
    const document = await server.must('GET', `/openapi/v3/apis/${group}/v1`);
    expect(document.components.schemas['com.example.published.v1.Gear']).toMatchObject({
      properties: { spec: { properties: { teeth: { type: 'integer' } } } },
      [dialect().extension('group-version-kind')]: [{ group, kind: 'Gear', version: 'v1' }],
    });
    const whole = await server.must('GET', '/openapi/v2');
    expect(whole.definitions['com.example.published.v1.GearList'].properties.items.items).toEqual({
      $ref: '#/definitions/com.example.published.v1.Gear',
    });
  });

  it('is not established until no other definition of the group uses its kind', async () => {
    const group = 'names.example.com';
    await establish(definition(group, [{ name: 'v1' }]));
    const other = definition(group, [{ name: 'v1' }]);
    other.metadata.name = `cogs.${group}`;
    other.spec.names = { plural: 'cogs', kind: 'Gear' };
    await server.must('POST', definitions, other);
    await vi.waitFor(async () =>
      expect(await conditionsOf(other.metadata.name)).toEqual({
        NamesAccepted: 'False ListKindConflict',
        Established: 'False NotAccepted',
      }),
    );
    expect((await server.call('GET', `/apis/${group}/v1/cogs`)).code).toBe(404);
    await server.must('DELETE', `${definitions}/gears.${group}`);
    await vi.waitFor(async () =>
      expect(await conditionsOf(other.metadata.name)).toEqual({
        NamesAccepted: 'True NoConflicts',
        Established: 'True InitialNamesAccepted',
      }),
    );
  });

  it('deletes its objects when it is deleted', async () => {
    const group = 'gone.example.com';
    await establish(definition(group, [{ name: 'v1' }]));
    for (const name of ['a', 'b', 'c']) {
      await server.must('POST', gears(group), gear(group, name, {}));
    }
    await server.must('DELETE', `${definitions}/gears.${group}`);
    await vi.waitFor(async () =>
      expect((await server.call('GET', `${definitions}/gears.${group}`)).code).toBe(404),
    );
    // A recreated definition has no objects.
    await establish(definition(group, [{ name: 'v1' }]));
    expect((await server.must('GET', gears(group))).items).toEqual([]);
  });
});

describe('objects of a definition that changes', () => {
  it('are read and watched with the defaults of a newer schema', async () => {
    const group = 'schema.example.com';
    const withSpec = (properties: object) => ({
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties } },
      },
    });
    const teeth = { type: 'integer' };
    await establish(definition(group, [{ name: 'v1', schema: withSpec({ teeth }) }]));
    await server.must('POST', gears(group), gear(group, 'a', { teeth: 3, color: 'red' }));
    const versions = definition(group, [
      { name: 'v1', schema: withSpec({ teeth, color: { type: 'string', default: 'blue' } }) },
    ]).spec.versions;
    await change(`gears.${group}`, { spec: { versions } });
    const shown = await server.must('GET', `${gears(group)}/a`);
    expect(shown.spec).toEqual({ teeth: 3, color: 'blue' });
    const watch = await server.call('GET', `${gears(group)}?watch=true&timeoutSeconds=1`);
    expect(JSON.parse(watch.text.split('\n')[0] ?? '')).toMatchObject({
      type: 'ADDED',
      object: { spec: { color: 'blue' } },
    });
  });

  it('are read in every version and written in the storage version', async () => {
    const group = 'stored.example.com';
    await establish(definition(group, [{ name: 'v1' }, { name: 'v2beta1' }]));
    await server.must('POST', gears(group), gear(group, 'old', { x: 1 }));
    const versions = definition(group, [
      { name: 'v1', storage: false },
      { name: 'v2beta1', storage: true },
    ]).spec.versions;
    await change(`gears.${group}`, { spec: { versions } });
    const { status } = await server.must('GET', `${definitions}/gears.${group}`);
    expect(status.storedVersions).toEqual(['v1', 'v2beta1']);
    for (const version of ['v1', 'v2beta1']) {
      const list = await server.must('GET', gears(group, version));
      expect(list.items).toMatchObject([{ apiVersion: `${group}/${version}`, spec: { x: 1 } }]);
    }
    const before = await server.must('GET', `${gears(group)}/old`);
    // The object does not change, but its storage version does.
    const after = await server.must('PUT', `${gears(group)}/old`, before);
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    const again = await server.must('PUT', `${gears(group)}/old`, after);
    expect(again.metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    await server.must('DELETE', `${gears(group)}/old`);
  });

  it('are rejected with unknown fields if the client requests strict validation', async () => {
    const group = 'strict.example.com';
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } },
    };
    await establish(definition(group, [{ name: 'v1', schema }]));
    const refused = await server.call('POST', `${gears(group)}?fieldValidation=Strict`, {
      body: gear(group, 'a', { x: 1 }),
    });
    expect(refused.code).toBe(400);
    expect(refused.body.message).toContain('unknown field "spec.x"');
  });
});

describe('conversion by a webhook', () => {
  const group = 'hooked.example.com';
  let directory: string;
  let webhook: Server;
  let convert: (review: Review) => object;

  interface Review {
    readonly apiVersion: string;
    readonly request: {
      readonly uid: string;
      readonly desiredAPIVersion: string;
      readonly objects: readonly { spec: Record<string, unknown>; [other: string]: unknown }[];
    };
  }

  /** Renames the field `size` of v1 to `teeth` in v2, and back. */
  function renamed({ apiVersion, request }: Review): object {
    const { uid, desiredAPIVersion, objects } = request;
    const [from, to] = desiredAPIVersion.endsWith('v2') ? ['size', 'teeth'] : ['teeth', 'size'];
    const convertedObjects = objects.map(({ spec, ...object }) => ({
      ...object,
      apiVersion: desiredAPIVersion,
      spec: { [to!]: spec[from!] },
    }));
    const response = { uid, convertedObjects, result: { status: 'Success' } };
    return { kind: 'ConversionReview', apiVersion, response };
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-webhook-'));
    const pair = await ensureSelfSigned(
      directory,
      'webhook',
      {
        commonName: 'webhook',
        hosts: ['127.0.0.1', 'hook.default.svc'],
        usages: ['server'],
        validMs: 3_600_000,
      },
      systemClock,
    );
    const { certificatePem: cert, keyPem: key } = pair;
    convert = renamed;
    webhook = createServer({ cert, key }, async (request, response) => {
      response.end(JSON.stringify(convert(JSON.parse(await text(request)) as Review)));
    });
    webhook.listen(0, '127.0.0.1');
    await once(webhook, 'listening');
    const { port } = webhook.address() as AddressInfo;
    const conversion = {
      strategy: 'Webhook',
      webhook: {
        clientConfig: {
          url: `https://127.0.0.1:${port}/convert`,
          caBundle: Buffer.from(cert).toString('base64'),
        },
        conversionReviewVersions: ['v1'],
      },
    };
    await establish(definition(group, [{ name: 'v1' }, { name: 'v2' }], { conversion }));
  });

  afterAll(() => {
    webhook.closeAllConnections();
    webhook.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('reads, lists, writes and watches in the other version', async () => {
    const made = await server.must('POST', gears(group), gear(group, 'a', { size: 3 }));
    expect((await server.must('GET', `${gears(group, 'v2')}/a`)).spec).toEqual({ teeth: 3 });
    await server.must('POST', gears(group, 'v2'), gear(group, 'b', { teeth: 4 }, 'v2'));
    expect((await server.must('GET', `${gears(group)}/b`)).spec).toEqual({ size: 4 });
    const list = await server.must('GET', gears(group, 'v2'));
    expect(list.items.map(({ spec }: { spec: object }) => spec)).toEqual([
      { teeth: 3 },
      { teeth: 4 },
    ]);
    await server.must('DELETE', `${gears(group)}/b`);
    const since = made.metadata.resourceVersion;
    const watch = await server.call(
      'GET',
      `${gears(group, 'v2')}?watch=true&timeoutSeconds=1&resourceVersion=${since}`,
    );
    const events = watch.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; object: { spec: object } });
    expect(events.map(({ type, object }) => [type, object.spec])).toEqual([
      ['ADDED', { teeth: 4 }],
      ['DELETED', { teeth: 4 }],
    ]);
  });

  it('calls the webhook of a service by one of its endpoints', async () => {
    const { port } = webhook.address() as AddressInfo;
    const annotations = { [dialect().key('pod-addresses', 'node')]: 'loopback' };
    await server.must('POST', '/api/v1/nodes', { metadata: { name: 'node', annotations } });
    await server.must('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'hook' },
      spec: { ports: [{ name: 'tls', port: 443 }] },
    });
    await server.must('POST', '/api/v1/namespaces/default/endpoints', {
      metadata: { name: 'hook' },
      subsets: [
        { addresses: [{ ip: '10.0.0.1', nodeName: 'node' }], ports: [{ name: 'tls', port }] },
      ],
    });
    const service = { namespace: 'default', name: 'hook', path: '/convert' };
    const conversion = { webhook: { clientConfig: { url: null, service } } };
    await change(`gears.${group}`, { spec: { conversion } });
    expect((await server.must('GET', `${gears(group, 'v2')}/a`)).spec).toEqual({ teeth: 3 });
    await server.must('DELETE', '/api/v1/namespaces/default/endpoints/hook');
    await server.must('POST', gears(group), gear(group, 'unconverted', { size: 1 }));
    const response = await server.call('GET', `${gears(group, 'v2')}/unconverted`);
    expect(response.body.message).toContain('no endpoints available for service "hook"');
    const url = `https://127.0.0.1:${port}/convert`;
    const byUrl = { webhook: { clientConfig: { url, service: null } } };
    await change(`gears.${group}`, { spec: { conversion: byUrl } });
  });

  it('fails with the message of the webhook', async () => {
    const name = 'refused';
    await server.must('POST', gears(group), gear(group, name, { size: 3 }));
    convert = (review) => ({
      kind: 'ConversionReview',
      apiVersion: review.apiVersion,
      response: { uid: review.request.uid, result: { status: 'Failure', message: 'not today' } },
    });
    const response = await server.call('GET', `${gears(group, 'v2')}/${name}`);
    convert = renamed;
    expect([response.code, response.body.message]).toEqual([
      500,
      `conversion webhook for ${group}/v1, Kind=Gear failed: not today`,
    ]);
  });

  it('rejects a changed name in the response of the webhook', async () => {
    await server.must('POST', gears(group), gear(group, 'kept', { size: 3 }));
    convert = (review) => {
      const converted = renamed(review) as { response: { convertedObjects: object[] } };
      converted.response.convertedObjects = converted.response.convertedObjects.map((object) => ({
        ...object,
        metadata: { ...(object as { metadata: object }).metadata, name: 'other' },
      }));
      return converted;
    };
    const response = await server.call('GET', `${gears(group, 'v2')}/kept`);
    convert = renamed;
    expect(response.code).toBe(500);
    expect(response.body.message).toContain('must have the same name: other != kept');
  });
});

/**
 * Responses in each media type that a client accepts: an object, a collection, a watch, a refusal.
 */
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Api } from './support/api.js';
import { Cluster, type DialectName } from './support/cluster.js';

const maps = '/api/v1/namespaces/default/configmaps';
interface Typed {
  kind?: string;
  apiVersion?: string;
}

const magic = Buffer.from('k8s\0', 'latin1');

const dialects: { dialect: DialectName; word: string; meta: string }[] = [
  { dialect: 'orch', word: 'orch', meta: 'meta.orch.io' },
  { dialect: 'kubernetes', word: 'kubernetes', meta: 'meta.k8s.io' },
];

describe.each(dialects)('representations in the $dialect dialect', ({ dialect, word, meta }) => {
  const cluster = new Cluster({ dialect, replicas: 1, components: 'apiserver' });
  const binary = `application/vnd.${word}.protobuf`;
  const as = (view: string, version = 'v1', format = 'application/json') =>
    `${format};as=${view};g=${meta};v=${version}`;
  let api: Api;

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    await api.call('POST', maps, { metadata: { name: 'a' }, data: { x: '1' } });
  });

  afterAll(() => cluster.destroy());

  /** `200 application/json Table meta/v1`, with the kind and version decoded from the format. */
  async function shown(path: string, accept: string): Promise<string> {
    const { status, headers, bytes } = await api.exchange('GET', path, { accept });
    const type = String(headers['content-type']);
    const stream = type.endsWith(';stream=watch');
    return `${status} ${type.replace(binary, 'protobuf')} ${typeOf(bytes, type, stream).replace(meta, 'meta')}`;
  }

  function typeOf(bytes: Buffer, type: string, stream: boolean): string {
    if (type.startsWith(binary)) {
      const start = stream ? bytes.indexOf(magic) : 0;
      expect(bytes.subarray(start, start + 4)).toEqual(magic);
      // Unknown: field 1 is TypeMeta, in which field 1 is the version and field 2 the kind.
      const field = (at: number) => bytes.subarray(at + 2, at + 2 + bytes[at + 1]!).toString();
      const version = field(start + 6);
      return `${field(start + 8 + Buffer.byteLength(version))} ${version}`;
    }
    const text = bytes.toString();
    const value = (
      type === 'application/yaml' ? parse(text) : JSON.parse(text.split('\n')[0] ?? '')
    ) as Typed & { object?: Typed };
    const { kind, apiVersion } = value.object ?? value;
    return `${kind} ${apiVersion}`;
  }

  const one = `${maps}/a`;
  const watch = `${maps}?watch=1&timeoutSeconds=2`;
  const json = 'application/json';
  const cells: [string, string, string][] = [
    [one, '*/*', `200 ${json} ConfigMap v1`],
    [one, 'application/yaml', '200 application/yaml ConfigMap v1'],
    [one, binary, '200 protobuf ConfigMap v1'],
    [one, as('Table'), `200 ${json} Table meta/v1`],
    [one, as('Table', 'v1beta1'), `200 ${json} Table meta/v1beta1`],
    [one, as('Table', 'v1', 'application/yaml'), '200 application/yaml Table meta/v1'],
    [one, as('PartialObjectMetadata'), `200 ${json} PartialObjectMetadata meta/v1`],
    [one, as('PartialObjectMetadata', 'v1beta1'), `200 ${json} PartialObjectMetadata meta/v1beta1`],
    [one, as('PartialObjectMetadata', 'v1', binary), '200 protobuf PartialObjectMetadata meta/v1'],
    [one, as('PartialObjectMetadataList'), `406 ${json} Status v1`],
    [one, as('Table', 'v1', binary), `406 ${json} Status v1`],
    [one, as('Table', 'v9'), `406 ${json} Status v1`],
    [one, as('Chair'), `406 ${json} Status v1`],
    [one, 'text/html', `406 ${json} Status v1`],
    [one, `text/html, ${as('Table', 'v9')}, ${binary}`, '200 protobuf ConfigMap v1'],
    [one, `${as('Table', 'v1', binary)}, ${as('Table')}`, `200 ${json} Table meta/v1`],
    [one, `${json};q=0.4, application/yaml;q=0.5`, '200 application/yaml ConfigMap v1'],
    [maps, json, `200 ${json} ConfigMapList v1`],
    [maps, 'application/yaml', '200 application/yaml ConfigMapList v1'],
    [maps, binary, '200 protobuf ConfigMapList v1'],
    [maps, as('Table'), `200 ${json} Table meta/v1`],
    [maps, as('PartialObjectMetadataList'), `200 ${json} PartialObjectMetadataList meta/v1`],
    [
      maps,
      as('PartialObjectMetadataList', 'v1beta1', binary),
      '200 protobuf PartialObjectMetadataList meta/v1beta1',
    ],
    [maps, as('PartialObjectMetadata'), `406 ${json} Status v1`],
    [watch, json, `200 ${json} ConfigMap v1`],
    [watch, `${json};stream=watch`, `200 ${json} ConfigMap v1`],
    [watch, binary, '200 protobuf;stream=watch ConfigMap v1'],
    [watch, as('Table'), `200 ${json} Table meta/v1`],
    [watch, as('PartialObjectMetadata'), `200 ${json} PartialObjectMetadata meta/v1`],
    [
      watch,
      as('PartialObjectMetadata', 'v1', binary),
      '200 protobuf;stream=watch PartialObjectMetadata meta/v1',
    ],
    [watch, 'application/yaml', '406 application/yaml Status v1'],
    [watch, as('PartialObjectMetadataList'), `406 ${json} Status v1`],
    [`${maps}/none`, 'application/yaml', '404 application/yaml Status v1'],
    [`${maps}/none`, binary, '404 protobuf Status v1'],
    [`${maps}/none`, as('Table'), `404 ${json} Status v1`],
  ];
  it.concurrent.each(cells)('%s as %s is %s', async (path, accept, expected) => {
    expect(await shown(path, accept)).toBe(expected);
  });

  it.each([
    ['', 'Metadata', { kind: 'PartialObjectMetadata' }],
    ['includeObject=Metadata', 'Metadata', { kind: 'PartialObjectMetadata' }],
    ['includeObject=Object', 'Object', { kind: 'ConfigMap', data: { x: '1' } }],
    ['includeObject=None', 'None', undefined],
  ])('rows of a table with "%s" hold %s', async (query, _, object) => {
    const answer = await api.exchange('GET', `${one}?${query}`, { accept: as('Table') });
    const { rows } = JSON.parse(answer.bytes.toString()) as { rows: { object?: object }[] };
    if (object) expect(rows[0]?.object).toMatchObject(object);
    else expect(rows[0]?.object ?? null).toBeNull();
  });

  it('is pretty-printed on request, and compact otherwise', async () => {
    const lines = async (path: string, accept = json) =>
      (await api.exchange('GET', path, { accept })).bytes.toString().trim().split('\n').length;
    expect(await lines(one)).toBe(1);
    expect(await lines(`${one}?pretty=false`)).toBe(1);
    expect(await lines(`${one}?pretty=true`)).toBeGreaterThan(5);
    expect(await lines(one, `${json};pretty=1`)).toBeGreaterThan(5);
    expect(await lines(`${maps}?pretty=true`)).toBeGreaterThan(5);
  });

  it('is compressed when it is long and the client accepts that', async () => {
    const object = { metadata: { name: 'long' }, data: { text: 'x'.repeat(200_000) } };
    expect((await api.call('POST', maps, object)).status).toBe(201);
    for (const path of [`${maps}/long`, maps]) {
      const plain = await api.exchange('GET', path, {});
      expect(plain.headers['content-encoding']).toBeUndefined();
      const packed = await api.exchange('GET', path, { 'accept-encoding': 'gzip' });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(packed.bytes).toString()).toContain('x'.repeat(200_000));
    }
    const short = await api.exchange('GET', one, { 'accept-encoding': 'gzip' });
    expect(short.headers['content-encoding']).toBeUndefined();
  });

  it.each([
    ['POST', maps, 'text/plain'],
    ['PUT', one, 'application/xml'],
    ['PATCH', one, json],
    ['PATCH', one, 'application/yaml'],
    ['DELETE', one, 'text/plain'],
  ])('%s %s refuses a body of %s', async (method, path, type) => {
    const answer = await api.exchange(method, path, { 'content-type': type }, '{}');
    const body = JSON.parse(answer.bytes.toString()) as { reason: string };
    expect([answer.status, body.reason]).toEqual([415, 'UnsupportedMediaType']);
  });
});

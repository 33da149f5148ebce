/** Requests that the API server must refuse, with the code of the refusal. */
export const configMapsPath = '/api/v1/namespaces/default/configmaps';

type HostileRequest = [
  name: string,
  method: string,
  target: string,
  body: string | Buffer | undefined,
  type: string | undefined,
  code: number,
];

const path = configMapsPath;
const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`;
const field = (value: string) =>
  `{"metadata":{"name":"m","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${value}}]}}`;
/** A JSON object with numbered keys. */
export const manyKeys = (count: number, key: string, value: string) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [key + i, value])));
const patch = (kind: string) => `application/${kind}-patch+json`;
const yaml = 'application/yaml';
const protobuf = 'application/vnd.orch.protobuf';

export const hostileRequests: readonly HostileRequest[] = [
  ['nested JSON', 'POST', path, field(nested(50_000)), undefined, 400],
  ['nested lists', 'POST', path, `${'['.repeat(500_000)}`, undefined, 400],
  ['a nested merge patch', 'PATCH', `${path}/a`, nested(50_000), patch('merge'), 400],
  ['a nested strategic patch', 'PATCH', `${path}/a`, nested(50_000), patch('strategic-merge'), 400],
  [
    'a nested JSON patch',
    'PATCH',
    `${path}/a`,
    `[{"op":"add","path":"/x","value":${nested(50_000)}}]`,
    patch('json'),
    400,
  ],
  [
    'copies of copies',
    'PATCH',
    `${path}/a`,
    JSON.stringify([
      { op: 'add', path: '/x', value: { text: 'y'.repeat(1_000) } },
      ...Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/x', path: `/x/${i}` })),
    ]),
    patch('json'),
    422,
  ],
  [
    'too many operations',
    'PATCH',
    `${path}/a`,
    JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/x', value: null }))),
    patch('json'),
    413,
  ],
  ['an unknown operation', 'PATCH', `${path}/a`, '[{"op":"frob"}]', patch('json'), 422],
  [
    'a directive of a wrong type',
    'PATCH',
    `${path}/a`,
    '{"metadata":{"$retainKeys":"x"}}',
    patch('strategic-merge'),
    400,
  ],
  ['an unknown kind of patch', 'PATCH', `${path}/a`, '{}', 'application/frob-patch+json', 415],
  ['nested YAML', 'POST', path, '['.repeat(100_000), yaml, 400],
  ['long YAML', 'POST', path, '- a\n'.repeat(700_000), yaml, 413],
  ['binary YAML', 'POST', path, Buffer.from([0xff, 0xfe, 0, 1]), yaml, 400],
  ['YAML whose aliases multiply', 'POST', path, aliasBomb(), yaml, 400],
  [
    'very many bad labels',
    'POST',
    path,
    `{"metadata":{"name":"m","labels":${manyKeys(100_000, 'k ', '!')}}}`,
    undefined,
    400,
  ],
  [
    'many bad keys',
    'POST',
    path,
    `{"metadata":{"name":"m"},"data":${manyKeys(20_000, 'k ', '')}}`,
    undefined,
    422,
  ],
  ['a name that is no UTF-8', 'POST', path, notUtf8Name(), undefined, 422],
  ['no protobuf', 'POST', path, Buffer.from([1, 2, 3, 4]), protobuf, 400],
  ['an empty protobuf', 'POST', path, Buffer.alloc(0), protobuf, 400],
  [
    'a protobuf that ends early',
    'POST',
    path,
    Buffer.from('6b387300fffffff0', 'hex'),
    protobuf,
    400,
  ],
  ['too long a body', 'POST', path, Buffer.alloc(4 << 20, 0x20), undefined, 413],
  ['a bad continue token', 'GET', `${path}?continue=frob`, undefined, undefined, 400],
  [
    'a forged continue token',
    'GET',
    `${path}?continue=${Buffer.from('{"v":"meta.v1","rv":1e300,"start":"a"}').toString('base64url')}`,
    undefined,
    undefined,
    400,
  ],
  ['a bad limit', 'GET', `${path}?limit=1.5`, undefined, undefined, 400],
  ['a bad version', 'GET', `${path}?resourceVersion=-1`, undefined, undefined, 400],
  [
    'a bad selector',
    'GET',
    `${path}?labelSelector=${'('.repeat(30_000)}`,
    undefined,
    undefined,
    400,
  ],
  [
    'too long a selector',
    'GET',
    `${path}?labelSelector=${'a,'.repeat(40_000)}`,
    undefined,
    undefined,
    400,
  ],
  ['too long a request line', 'GET', `${path}?x=${'a'.repeat(200_000)}`, undefined, undefined, 431],
  [
    'a path that is no UTF-8',
    'GET',
    '/api/v1/namespaces/%ff/configmaps',
    undefined,
    undefined,
    400,
  ],
  ['half an escape', 'GET', '/openapi/%', undefined, undefined, 400],
  ['an unknown method', 'PROPFIND', path, undefined, undefined, 405],
];

function notUtf8Name(): Buffer {
  const [head, tail] = ['{"metadata":{"name":"u', '"}}'].map((text) => Buffer.from(text));
  return Buffer.concat([head!, Buffer.from([0xff, 0xc3]), tail!]);
}

/** Each line refers seven times to the one before. */
function aliasBomb(): string {
  const seven = (item: string) => Array.from({ length: 7 }, () => item).join();
  const lines = Array.from({ length: 9 }, (_, i) => `k${i + 1}: &k${i + 1} [${seven(`*k${i}`)}]`);
  return [`k0: &k0 [${seven('x')}]`, ...lines].join('\n');
}

/** Bodies of writes in every format, nearly valid. */
import { wrapUnknown } from '@orch/apimachinery';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { arbitraryObject } from '../../../libs/apimachinery/src/schema/testing/arbitrary-object.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { damagedBytes, damagedText } from './bytes.js';
import { jsonText, jsonTokens } from './json.js';
import { changedObject, realisticObject } from './objects.js';
import { changedMessage } from './protobuf.js';

export function jsonBody(served: ServedResource): fc.Arbitrary<Buffer> {
  const tokens = jsonTokens.map((token) => Buffer.from(token));
  return damagedBytes(
    changedObject(served).map((value) => Buffer.from(jsonText(value))),
    tokens,
  );
}

const yamlTokens = [
  ...[
    '&a ',
    '*a',
    '- ',
    ': ',
    '\n',
    '---\n',
    '...\n',
    '%YAML 1.1\n---\n',
    '%YAML 1.2\n---\n',
    '|\n',
  ],
  ...[
    '!!binary ',
    '!!set ',
    '!!omap ',
    '!!timestamp ',
    '!!js/function ',
    '!!float ',
    '!!null ',
    '! ',
  ],
  ...[
    '<<: *a\n',
    '{',
    '}',
    '[',
    ']',
    '? ',
    '>-\n',
    '"',
    "'",
    '#',
    '\t',
    '@',
    '`',
    '0o17',
    '.nan',
    '.inf',
  ],
  '\n'.repeat(50),
];

/** Lines to add before and after a document. */
const yamlLines = [
  'a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n',
  'metadata: {annotations: &b {a: *b}}\n',
  'spec: &c {template: *c, containers: [*c]}\n',
  'data: &d [*d]\n',
  '%YAML 1.1\n---\na: !!set {x, y}\nb: !!binary aGk=\nc: !!timestamp 2001-01-01\n',
  'a: 0o17\nb: .nan\nc: .inf\nd: 1e999\n? [e]\n: f\n',
  '---\na: b\n---\nc: d\n',
];

/** YAML, also with repeated values replaced by aliases. */
function yamlText(value: unknown, refers: boolean): string {
  const plain = JSON.parse(jsonText(value).slice(0, 20_000)) as unknown;
  return stringify(plain, { aliasDuplicateObjects: refers, blockQuote: false });
}

/** YAML parses some hundred times slower than JSON. */
export function yamlBody(served: ServedResource): fc.Arbitrary<string> {
  const plain = fc
    .tuple(fc.constant(realisticObject(served)), fc.boolean())
    .map(([value, refers]) => yamlText(value, refers));
  const written = fc.tuple(changedObject(served), fc.boolean()).map(([value, refers]) => {
    try {
      return yamlText(value, refers);
    } catch {
      return jsonText(value); // not to be held by this writer: JSON is YAML too
    }
  });
  const whole = fc
    .tuple(fc.oneof(plain, written), fc.constantFrom('', '', '', ...yamlLines), fc.boolean())
    .map(([text, line, isFirst]) => (isFirst ? `${line}${text}` : `${text}\n${line}`));
  return damagedText(whole, yamlTokens);
}

export function protobufBody(served: ServedResource): fc.Arbitrary<Buffer> {
  const objects = fc.oneof(
    fc.constant(realisticObject(served)),
    arbitraryObject(served.codec.name, 6) as fc.Arbitrary<Record<string, unknown>>,
  );
  const message = objects.map((object) =>
    served.codec.toProtobuf(served.codec.fromJson(structuredClone(object))),
  );
  const named = fc.constantFrom<[string, string]>(
    [served.apiVersion, served.kind],
    ['', ''],
    [served.apiVersion, '__proto__'],
    ['v1', 'List'],
  );
  const whole = fc
    .tuple(changedMessage(message), named)
    .map(([bytes, [apiVersion, kind]]) => wrapUnknown(apiVersion, kind, bytes));
  const bare = changedMessage(message);
  return fc.oneof(
    { weight: 6, arbitrary: whole },
    { weight: 1, arbitrary: bare },
    {
      weight: 2,
      arbitrary: damagedBytes(whole),
    },
  );
}

/** Values with a text form: a parsed value can be written, and parses to the same value. */
import assert from 'node:assert/strict';
import {
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkHttpHeaderName,
  checkIp,
  checkLabelValue,
  checkPercent,
  checkPortName,
  checkQualifiedName,
  codecFor,
  type IntOrString,
  isCidr,
  managerName,
  parseTime,
  percentOf,
  Quantity,
  QuantityError,
  SchemaError,
  scaledValue,
} from '@orch/apimachinery';
import { parseBoolean, parseDuration, ValueError } from '@orch/component';
import fc from 'fast-check';
import { hostileJson, jsonText } from '../inputs/json.js';
import { hostileText, sentence } from '../inputs/text.js';
import { cheap, decodedOrRefused, type Target, target } from '../target.js';
import { halfSurrogate } from './bodies.js';

const digits = [
  '0',
  '1',
  '9',
  '12',
  '999',
  '00',
  '.',
  '-',
  '+',
  '9007199254740993',
  '9'.repeat(40),
];
const suffixes = ['n', 'u', 'm', 'k', 'Ki', 'M', 'Mi', 'G', 'Gi', 'T', 'Ti', 'P', 'Pi', 'E', 'Ei'];

const quantities = target(
  'quantities',
  fc.tuple(
    sentence([...digits, ...suffixes, 'e', 'E3', 'e-9', 'e128', 'e129', ' '], 5),
    sentence([...digits, ...suffixes], 3),
  ),
  ([text, other]) => {
    const first = decodedOrRefused(() => Quantity.parse(text), QuantityError);
    const second = decodedOrRefused(() => Quantity.parse(other), QuantityError);
    if (!first) return;
    const shown = first.toString();
    assert.equal(Quantity.parse(shown).toString(), shown, 'written and read');
    assert.equal(first.compare(first), 0);
    if (second) assert.ok(first.add(second).subtract(second).equals(first));
    first.milliUnits();
  },
);

/** Types whose JSON form is a scalar. */
const scalarTypes = [
  'meta/v1.Time',
  'meta/v1.MicroTime',
  'meta/v1.Duration',
  'util/resource.Quantity',
  'util/intstr.IntOrString',
] as const;
const timeWords = [
  ...['2026-01-02T03:04:05Z', '2026-02-29', '0000-00-00', '9999-12-31', 'T', 't', ' ', '24:00:00'],
  ...[
    '23:59:59',
    '23:59:60',
    '.',
    '123456',
    '1'.repeat(30),
    'Z',
    'z',
    '+23:59',
    '-00:00',
    '+24:00',
  ],
  ...['0001-01-01T00:00:00Z', '1h', '2m', '3.5s', '10ms', '1us', '5ns', '-', '1'.repeat(30)],
];

const scalars = target(
  'scalars',
  fc.tuple(
    fc.constantFrom(...scalarTypes),
    fc.oneof<fc.Arbitrary<unknown>[]>(
      sentence(timeWords, 4),
      sentence([...digits, ...suffixes, '%'], 4),
      hostileJson,
    ),
  ),
  ([name, value]) => {
    const codec = codecFor<unknown>(name);
    const parsed = decodedOrRefused(() => JSON.parse(jsonText(value)) as unknown, SyntaxError);
    const read = decodedOrRefused(() => codec.fromJson(parsed), SchemaError);
    if (read === undefined) return;
    assert.deepEqual(codec.fromJson(read), read);
    const text = JSON.stringify(read);
    if (halfSurrogate.test(text)) return;
    assert.deepEqual(codec.fromProtobuf(codec.toProtobuf(read)), read);
  },
);

const nameChecks = [
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkHttpHeaderName,
  checkIp,
  checkLabelValue,
  checkPercent,
  checkPortName,
  checkQualifiedName,
] as const;

const names = target(
  'names',
  fc.oneof(
    hostileText,
    sentence(['a', 'A', '0', '-', '.', '/', '_', 'aa.bb/', '%', ':', '::1', '10.0.0.1'], 40),
  ),
  (text) => {
    for (const check of nameChecks)
      for (const message of check(text)) assert.ok(message.length > 0);
    isCidr(text);
    managerName('', text);
    // A valid name needs no escapes in a path.
    if (checkDns1123Subdomain(text).length === 0) assert.equal(encodeURIComponent(text), text);
    if (checkQualifiedName(text).length === 0) assert.ok(/^[\w./-]+$/.test(text));
  },
);

const flagValues = target(
  'flag-values',
  fc.oneof(sentence(timeWords, 5), sentence([...digits, 'true', 'false', 't', '%'], 4)),
  (text) => {
    const durationMs = decodedOrRefused(() => parseDuration(text), ValueError);
    assert.ok(durationMs === undefined || !Number.isNaN(durationMs));
    decodedOrRefused(() => parseBoolean(text), ValueError);
    const timeMs = parseTime(text);
    assert.ok(timeMs === undefined || Number.isInteger(timeMs));
    const percent = percentOf(text);
    assert.ok(percent === undefined || percent >= 0);
    const scaled = decodedOrRefused(() => scaledValue(text as IntOrString, 7, 'up'), RangeError);
    assert.ok(scaled === undefined || scaled >= 0);
  },
);

export const valueTargets: readonly Target[] = [...cheap([quantities, scalars, names, flagValues])];

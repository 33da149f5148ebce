/**
 * Field values as clients might send them: they fit their type, and many are values that the rules
 * of a kind check. Chosen by field name: enum values, names, ports, addresses, quantities, just
 * inside and just outside the accepted range.
 */
import type { Encoding, FieldDescriptor, TypeName } from '../../descriptors/descriptor.js';
import { enumValues, schemaType, splitTypeName } from '../registry.js';
import type { Draws } from './draws.js';

/** Known values for fields with that name. */
export type KnownValues = (fieldName: string) => readonly unknown[];

const names = [
  ...['a', 'b', 'main', 'data', 'app', 'web-1', 'a.b', 'x.example.com', 'example.com/name', 'cpu'],
  ...['', 'A', '-a', 'a-', 'a_b', 'a..b', 'a/b', 'a/b/c', '.', '..', '0', '80', 'ä', 'a b', '*'],
  ...['x'.repeat(15), 'x'.repeat(16), 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(254), '*.a.b'],
];
const pools: readonly (readonly [RegExp, readonly string[]])[] = [
  [/cidr|ranges?$|^allowed.*CIDR/i, ['10.0.0.0/8', '10.0.0.0/33', 'fd00::/64', '10.1.2.3/8', 'a']],
  [
    /ip$|ips$|addresses|nameservers|host$/i,
    ['10.0.0.1', '10.96.0.20', '0.0.0.0', '127.0.0.1', '169.254.1.1', 'fd00::1', '::', '256.1.1.1'],
  ],
  [/path$|prefix$|dir$/i, ['/', '/a/b', 'a/b', '../a', '/a/../b', '/a//b', '', 'a:b', '/%zz']],
  [/url$|server$|uri$/i, ['https://a.b/c', 'http://a', 'https://', 'a', 'https://u@a.b?c#d', ':']],
  [/image$/i, ['nginx:1', 'nginx', ' ', 'a@sha256:00']],
  [/version$/i, ['v1', 'v1beta1', '__internal', 'v1/v2', '1', '*']],
  [/group|^apiGroups/i, ['', 'apps', 'a.b', '*', 'A.B']],
  [/schedule$/i, ['* * * * *', '*/5 0 1 1 0', '@daily', '61 * * * *', '', '@every 1h', '* * *']],
  [/kind$/i, ['Pod', 'Deployment', 'User', 'Group', 'ServiceAccount', 'pod', 'a b', 'Node']],
  [
    /resource/i,
    ['pods', 'limits.cpu', 'requests.memory', '*', '*/*', 'pods/status', 'a/b/c', 'cpu'],
  ],
  [/namespace$/i, ['default', 'other', '', 'A']],
  [
    /profile|type$|policy|mode$|operator|effect|phase|protocol|scope/i,
    ['', 'Always', 'localhost/a', 'TCP', 'In', 'x'],
  ],
  [/topologyKey|^key$|labels/i, ['app', 'a.b/c', 'zone', '', 'a b', '/', 'a/', '/a']],
  [
    /jsonPath|fieldPath/i,
    ['metadata.name', 'metadata.labels', "metadata.labels['a']", 'status.podIP', 'a'],
  ],
];
const numbers = [0, 1, -1, 2, 3, 5, 10, 80, 100, 101, 256, 420, 511, 512, 1000, 30_000, 32_768];
const largeNumbers = [
  65_535, 65_536, 86_400, 100_000, 1_000_000_001, 2_147_483_647, -2_147_483_648,
];
const quantities = [
  ...[
    '0',
    '1',
    '-1',
    '2',
    '100m',
    '1500m',
    '64Mi',
    '1Gi',
    '2Gi',
    '0.5',
    '1e3',
    '1n',
    '1.5u',
    '1Ei',
  ],
  ...['9223372036854775807', '9223372036854775808', '0.0001', '-0', '+1', '.5', '1E', '1e-9'],
];
const intOrStrings = [
  ...[0, 1, -1, 80, 65_536, '25%', '100%', '101%', '0%', '-1%', '%', '1', 'http', '', '0x1', 'A-'],
];
const times = ['2026-01-02T03:04:05Z', '1970-01-01T00:00:00Z', '2030-06-07T08:09:10+02:00'];
const microTimes = ['2026-01-02T03:04:05.123456Z', '2026-01-02T03:04:05.000000Z'];
const durations = ['0s', '1h2m3s', '30s', '-5s', '1ns', '2400h0m0s'];
const freeForms = [
  {},
  { a: 1 },
  { a: { b: [1, 'c', null, 1.5] } },
  { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } },
];
const doubles = [0, 1, 0.5, -1.25, 1e21, 1e-7, 2 ** 53];

/** Objects are left empty below this many levels. */
export interface DrawOptions {
  readonly known: KnownValues;
  readonly depth: number;
}

function textOf(field: FieldDescriptor, file: string, draws: Draws): string {
  const enumType = field.enumType ?? field.keyEnumType;
  const values = enumType === undefined ? [] : enumValues(file, enumType);
  if (values.length > 0 && !draws.once(8)) return draws.from(values);
  const pool = pools.find(([pattern]) => pattern.test(field.name))?.[1];
  return draws.from(pool && !draws.once(4) ? pool : names);
}

function scalarOf(field: FieldDescriptor, file: string, draws: Draws): unknown {
  switch (field.kind) {
    case 'string':
      return textOf(field, file, draws);
    case 'bool':
      return draws.below(2) === 1;
    case 'int32':
      return draws.from(draws.once(6) ? largeNumbers : numbers);
    case 'int64':
      return draws.once(12)
        ? Number.MAX_SAFE_INTEGER
        : draws.from(draws.once(6) ? largeNumbers : numbers);
    case 'double':
      return draws.from(doubles);
    case 'bytes':
      return Buffer.from(draws.from(['', 'a', '{}', '{"auths":{}}'])).toString('base64');
    default:
      return draws.from(freeForms);
  }
}

function encodedOf(
  name: TypeName,
  encoding: Encoding,
  draws: Draws,
  settings: DrawOptions,
): unknown {
  switch (encoding) {
    case 'time':
      return draws.from(times);
    case 'microTime':
      return draws.from(microTimes);
    case 'duration':
      return draws.from(durations);
    case 'quantity':
      return draws.from(quantities);
    case 'intOrString':
      return draws.from(intOrStrings);
    case 'stringList':
      return [draws.from(names), draws.from(names)];
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray': {
      const { file } = splitTypeName(name);
      return drawnObject(`${file}.JSONSchemaProps`, draws, {
        ...settings,
        depth: settings.depth - 1,
      });
    }
    default:
      return draws.from(freeForms);
  }
}

function elementOf(
  field: FieldDescriptor,
  file: string,
  draws: Draws,
  settings: DrawOptions,
): unknown {
  if (field.kind !== 'message') return scalarOf(field, file, draws);
  const { encoding } = schemaType(field.ref!);
  if (encoding) return encodedOf(field.ref!, encoding, draws, settings);
  return drawnObject(field.ref!, draws, { ...settings, depth: settings.depth - 1 });
}

/** A value for a field of a type in `file`. */
export function drawnValue(
  field: FieldDescriptor,
  file: string,
  draws: Draws,
  settings: DrawOptions,
): unknown {
  const known = settings.known(field.name);
  if (known.length > 0 && draws.once(3)) return structuredClone(draws.from(known));
  if (field.cardinality === undefined) return elementOf(field, file, draws, settings);
  const count = draws.from([1, 2, 0, 3]);
  const elements = Array.from({ length: count }, () => elementOf(field, file, draws, settings));
  if (field.cardinality === 'list') return elements;
  return Object.fromEntries(elements.map((element) => [textOf(field, file, draws), element]));
}

const choicesMin = 4;

/** Types of which an object usually sets one member: volume sources, handlers, metric kinds. */
export function isChoice(name: TypeName): boolean {
  const { fields } = schemaType(name);
  const choices = fields.filter(
    ({ kind, nullable, cardinality }) => kind === 'message' && nullable && !cardinality,
  );
  return choices.length >= choicesMin && choices.length * 2 > fields.length;
}

/** Sets the required fields and about two more. */
export function drawnObject(name: TypeName, draws: Draws, settings: DrawOptions): unknown {
  const { encoding, fields } = schemaType(name);
  if (encoding) return encodedOf(name, encoding, draws, settings);
  if (settings.depth <= 0 || fields.length === 0) return {};
  const { file } = splitTypeName(name);
  const chosen = fields.filter((field) => field.required && !draws.once(8));
  const moreCount = isChoice(name) && !draws.once(6) ? 1 : draws.below(4);
  for (let count = moreCount; count > 0; count -= 1) chosen.push(draws.from(fields));
  const object: Record<string, unknown> = {};
  for (const field of chosen) {
    if (field.inline) Object.assign(object, drawnObject(field.ref!, draws, settings));
    else object[field.name] = drawnValue(field, file, draws, settings);
  }
  return object;
}

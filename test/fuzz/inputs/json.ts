/**
 * JSON texts that are nearly valid: a value with members of the wrong type, missing, duplicate or
 * with the name of an inherited member, with endless nesting, or with numbers out of range.
 */
import fc from 'fast-check';
import { hostileText, inheritedNames } from './text.js';

/** A placeholder in a value for JSON text that no value has. */
const rawMark = '\u0001raw:';
const rawPattern = /"\\u0001raw:(\w+):(\d+)"/g;

function rawText(kind: string, count: number): string {
  switch (kind) {
    case 'lists':
      return '['.repeat(count) + ']'.repeat(count);
    case 'objects':
      return `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`;
    case 'schemas':
      return `${'{"properties":{"a":'.repeat(count)}{}${'}}'.repeat(count)}`;
    case 'digits':
      return `1${'0'.repeat(count)}`;
    case 'fraction':
      return `0.${'9'.repeat(count)}`;
    case 'doubled':
      return `{"name":"a","name":${count},"__proto__":{"name":"b"},"__proto__":null}`;
    default:
      return `1e${count}`;
  }
}

const raw = fc
  .tuple(
    fc.constantFrom('lists', 'objects', 'schemas', 'digits', 'fraction', 'doubled', 'exponent'),
    fc.oneof({ weight: 8, arbitrary: fc.nat(400) }, { weight: 1, arbitrary: fc.nat(40_000) }),
  )
  .map(([kind, count]) => `${rawMark}${kind}:${count}`);

const numbers = [0, -0, 1, -1, 0.5, 1e308, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, -(2 ** 64)];

/** A value of another type than the expected one. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, ...numbers),
  hostileText,
  raw,
  fc.constantFrom('[]', '{}', '[null]', '[[]]', '{"":null}').map((text) => JSON.parse(text)),
  fc.constantFrom(...inheritedNames).map((name) => JSON.parse(`{${JSON.stringify(name)}:{"a":1}}`)),
  fc.jsonValue({ maxDepth: 3 }),
);

interface Change {
  readonly at: number;
  readonly kind: 'replace' | 'remove' | 'add' | 'wrap' | 'double';
  readonly name: string;
  readonly value: unknown;
}

function changes(names: readonly string[]): fc.Arbitrary<Change[]> {
  const change = fc.record({
    at: fc.nat(0xffff),
    kind: fc.constantFrom<Change['kind'][]>(
      'replace',
      'replace',
      'remove',
      'add',
      'wrap',
      'double',
    ),
    name: fc.oneof(fc.constantFrom(...inheritedNames, ...names), hostileText),
    value: hostileJson,
  });
  return fc.oneof(fc.constant<Change[]>([]), fc.array(change, { minLength: 1, maxLength: 4 }));
}

type Holder = Record<string, unknown> | unknown[];
interface Place {
  readonly holder: Holder;
  readonly key: string;
}

/** Every member of the value, which is drawn here and never deep. */
function placesIn(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ holder: value as Holder, key });
    placesIn((value as Record<string, unknown>)[key], found);
  }
  return found;
}

function put(holder: Holder, key: string, value: unknown): void {
  const property = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(holder, key, property);
}

function changed(root: Record<string, unknown>, change: Change): void {
  const places = placesIn(root);
  const place = places[change.at % places.length];
  if (!place) return;
  const { holder, key } = place;
  const old = (holder as Record<string, unknown>)[key];
  if (change.kind === 'remove') {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  } else if (change.kind === 'add') {
    if (Array.isArray(holder)) holder.push(change.value);
    else put(holder, change.name, change.value);
  } else if (change.kind === 'double' && Array.isArray(holder)) holder.push(old);
  else if (change.kind === 'wrap') put(holder, key, [old]);
  else put(holder, key, change.value);
}

/** The texts, half of them damaged. `names` are those of added members. */
export function changedJson(
  valid: fc.Arbitrary<unknown>,
  names: readonly string[] = [],
): fc.Arbitrary<unknown> {
  return fc.tuple(valid, changes(names)).map(([value, all]) => {
    const root = { value: JSON.parse(JSON.stringify(value)) as unknown };
    for (const change of all) changed(root, change);
    return root.value;
  });
}

/** The JSON text of a value drawn here, which may have been removed as a whole. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.replace(rawPattern, (_, kind: string, count: string) => rawText(kind, Number(count)));
}

/** JSON tokens that damage may insert. */
export const jsonTokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  '1e999',
  '"__proto__":',
  '\\',
];

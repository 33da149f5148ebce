/** Computes the differences between two versions of a kind, field by field. */
import { enumValues, type FieldDescriptor, schemaType, type TypeName } from '@orch/apimachinery';
import { canonical, fieldsOf, hasFields, partsOf } from './shape.js';

export interface Difference {
  /** Such as `spec.rules[].host`. */
  readonly path: string;
  readonly what: 'onlyThere' | 'notThere' | 'differs';
  /** The field in the compared version; in the main version if it is missing there. */
  readonly owner: TypeName;
  readonly field: FieldDescriptor;
  /** The type of a field that only the other version has, for its own section. */
  readonly ref?: TypeName;
  /** The differences, if both versions have the field. */
  readonly details?: readonly string[];
}

interface Side {
  readonly owner: TypeName;
  readonly field: FieldDescriptor;
}

export function differences(main: TypeName, other: TypeName): Difference[] {
  const found: Difference[] = [];
  compare(canonical(main), canonical(other), '', new Set(), found);
  return found;
}

function compare(
  main: TypeName,
  other: TypeName,
  at: string,
  seen: Set<string>,
  found: Difference[],
): void {
  const pair = `${main} ${other}`;
  if (main === other || seen.has(pair)) return;
  seen.add(pair);
  const mine = fieldsOf(main);
  const theirs = fieldsOf(other);
  for (const one of mine) {
    const two = theirs.find(({ field }) => field.name === one.field.name);
    const path = pathOf(at, one.field);
    if (!two) found.push({ path, what: 'notThere', ...one });
    else compareFields(one, two, path, seen, found);
  }
  for (const two of theirs) {
    if (mine.some(({ field }) => field.name === two.field.name)) continue;
    const ref = two.field.ref === undefined ? undefined : canonical(two.field.ref);
    found.push({ path: pathOf(at, two.field), what: 'onlyThere', ...two, ...(ref && { ref }) });
  }
}

function pathOf(at: string, field: FieldDescriptor): string {
  const path = at === '' ? field.name : `${at}.${field.name}`;
  return field.cardinality === 'list' ? `${path}[]` : path;
}

function compareFields(one: Side, two: Side, path: string, seen: Set<string>, found: Difference[]) {
  const mine = one.field.ref === undefined ? undefined : canonical(one.field.ref);
  const theirs = two.field.ref === undefined ? undefined : canonical(two.field.ref);
  const details = [
    ...detail('default', one.field.default, two.field.default),
    ...detail('required', one.field.required, two.field.required),
    ...detail('known values', valuesOf(one), valuesOf(two)),
    ...mergeDetail(mergeOf(one.field), mergeOf(two.field)),
  ];
  const isOther =
    one.field.kind !== two.field.kind ||
    one.field.cardinality !== two.field.cardinality ||
    encodingOf(mine) !== encodingOf(theirs);
  if (isOther) {
    found.push({
      path,
      what: 'differs',
      ...two,
      details: ['another type'],
      ...(theirs && { ref: theirs }),
    });
    return;
  }
  if (details.length > 0) found.push({ path, what: 'differs', ...two, details });
  if (mine && theirs && hasFields(schemaType(mine))) compare(mine, theirs, path, seen, found);
}

function encodingOf(name: TypeName | undefined): string | undefined {
  return name === undefined ? undefined : schemaType(name).encoding;
}

function valuesOf({ owner, field }: Side): string | undefined {
  if (field.enumType === undefined) return undefined;
  return enumValues(partsOf(owner).file, field.enumType).join(', ') || undefined;
}

/** Undefined for a list that is replaced as a whole. */
function mergeOf({ mergeKey, listType, listMapKeys }: FieldDescriptor): string | undefined {
  return listMapKeys?.join(', ') ?? mergeKey ?? (listType === 'set' ? 'value' : undefined);
}

function mergeDetail(mine: string | undefined, theirs: string | undefined): string[] {
  if (mine === theirs) return [];
  return [theirs === undefined ? 'replaced as a whole' : `merged by ${theirs}`];
}

function detail<T>(what: string, mine: T | undefined, theirs: T | undefined): string[] {
  if (mine === theirs) return [];
  if (typeof theirs === 'boolean' || typeof mine === 'boolean') {
    return [theirs ? `is ${what}` : `is not ${what}`];
  }
  return [theirs === undefined || theirs === '' ? `no ${what}` : `${what}: ${theirs}`];
}

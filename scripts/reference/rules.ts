/**
 * Derives the rules of a field from the kind itself: puts invalid values into the example of the
 * kind and collects the errors. So a page only contains enforced rules, and all rules of a single
 * field. Rules between fields are only found if the example meets their condition.
 */
import type { ResourceDefinition } from '@orch/api';
import {
  enumValues,
  type FieldDescriptor,
  type FieldError,
  schemaType,
  type TypeName,
} from '@orch/apimachinery';
import { create, update } from '../../libs/api/src/testing/write.js';
import { canonical, fieldsOf, hasFields, partsOf } from './shape.js';

export interface Rules {
  isRequired: boolean;
  /** Allowed values; empty if any value is allowed. */
  readonly values: Set<string>;
  /** Texts of the errors. */
  readonly texts: Set<string>;
  isFixed: boolean;
}

type Json = unknown;
type Path = readonly (string | number)[];

/** Maximum depth of fields; deeper levels repeat the types above them. */
const depthMax = 12;
const wrongText = 'No such value!';
const longText = 'a'.repeat(300);
const farNumber = 2_147_483_647;

export interface Example {
  readonly definition: ResourceDefinition;
  readonly type: TypeName;
  readonly body: object;
}

/**
 * Rules by type and field name, such as `core/v1.Container name`. The first example that reaches a
 * type determines its rules.
 */
export function findRules(examples: readonly Example[]): Map<string, Rules> {
  const rules = new Map<string, Rules>();
  const done = new Set<TypeName>();
  let waiting = examples.map((example) => ({ example, type: example.type, at: [] as Path }));
  // Breadth first over all kinds, so that every type is reached at its lowest depth.
  for (let depth = 0; depth < depthMax && waiting.length > 0; depth += 1) {
    const next: typeof waiting = [];
    for (const { example, type, at } of waiting) {
      if (done.has(type)) continue;
      done.add(type);
      for (const { owner, field } of fieldsOf(type)) {
        if (isOfTheSystem(at, field)) continue;
        rules.set(`${owner} ${field.name}`, probeField(example, at, owner, field));
        const ref = field.ref === undefined ? undefined : canonical(field.ref);
        if (ref === undefined || field.cardinality === 'map' || !hasFields(schemaType(ref)))
          continue;
        const step = field.cardinality === 'list' ? [field.name, 0] : [field.name];
        next.push({ example, type: ref, at: [...at, ...step] });
      }
    }
    // If the example sets the field, its rules apply as in normal use.
    const isThere = ({ example, at }: (typeof next)[number]) =>
      valueAt(example.body, at) !== undefined;
    waiting = [...next.filter(isThere), ...next.filter((one) => !isThere(one))];
  }
  return rules;
}

/** Metadata has its own rules, and clients do not write the status. */
function isOfTheSystem(at: Path, { name }: FieldDescriptor): boolean {
  return at.length === 0 && (name === 'metadata' || name === 'status');
}

function probeField(
  example: Example,
  parent: Path,
  owner: TypeName,
  field: FieldDescriptor,
): Rules {
  const rules: Rules = { isRequired: false, values: new Set(), texts: new Set(), isFixed: false };
  const path = [...parent, field.name];
  const text = textOf(path);
  const base = place(example.body, parent, (value) => value);
  const without = errorsOf(
    example,
    place(base, path, () => undefined),
  );
  if (without.some(({ type, field: at }) => type === 'required' && at === text)) {
    rules.isRequired = true;
  }
  for (const value of wrongValues(field)) {
    const body = place(base, path, () => value);
    for (const error of errorsOf(example, body)) {
      const inside = error.field.startsWith(`${text}[`) && field.kind !== 'message';
      if (error.field === text || inside) note(rules, error);
    }
  }
  rules.isFixed = isFixed(example, base, path, owner, field);
  return rules;
}

function note(rules: Rules, error: FieldError): void {
  if (error.type === 'notSupported') {
    for (const [, value] of error.detail.matchAll(/"([^"]*)"/g)) rules.values.add(value!);
  } else if (error.type !== 'required' && error.type !== 'notFound' && error.detail !== '') {
    // An error that quotes the value is about the value.
    if (!error.detail.includes(wrongText) && !error.detail.includes(longText)) {
      rules.texts.add(error.detail);
    }
  }
}

function keyOf({ type, field, detail }: FieldError): string {
  return `${type} ${field} ${detail}`;
}

function textOf(path: Path): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`,
    '',
  );
}

/** Values that a rule of the field alone would reject. */
function wrongValues(field: FieldDescriptor): Json[] {
  const one = wrongOnes(field);
  if (field.cardinality === 'list') return one.map((value) => [value]);
  if (field.cardinality === 'map') {
    if (field.kind === 'bytes') return [{ [wrongText]: '' }];
    return one.slice(0, 1).map((value) => ({ [wrongText]: value }));
  }
  return one;
}

function wrongOnes({ kind, ref }: FieldDescriptor): Json[] {
  if (kind === 'string') return [wrongText, longText];
  if (kind === 'int32' || kind === 'int64') return [-1, 0, farNumber];
  const encoding = ref === undefined ? undefined : schemaType(ref).encoding;
  if (encoding === 'intOrString') return [-1, farNumber, wrongText];
  if (encoding === 'quantity') return ['-1'];
  return [];
}

/** Reports whether an update rejects another value only because it differs. */
function isFixed(
  example: Example,
  base: object,
  path: Path,
  owner: TypeName,
  field: FieldDescriptor,
): boolean {
  const { definition } = example;
  if (definition.versions[0]?.toStored) return false;
  const before = valueAt(base, path);
  const other = otherValue(owner, field, before);
  if (other === undefined) return false;
  const changed = place(base, path, () => other);
  const old = create(definition, base).object;
  const next = create(definition, changed);
  const known = new Set(next.causes.map(keyOf));
  const { causes } = update(definition, old, (object) => replaceAll(object, next.object));
  const text = textOf(path);
  return causes.some(
    (error) =>
      !known.has(keyOf(error)) &&
      (text === error.field ||
        text.startsWith(`${error.field}.`) ||
        text.startsWith(`${error.field}[`)),
  );
}

function otherValue(owner: TypeName, field: FieldDescriptor, value: Json): Json {
  const { kind, cardinality, ref, enumType } = field;
  const encoding = ref === undefined ? undefined : schemaType(ref).encoding;
  if (cardinality === 'list') {
    if (kind === 'string') return [...((value as string[] | undefined) ?? []), 'other'];
    return value === undefined ? undefined : [];
  }
  if (cardinality === 'map') {
    return kind === 'string' ? { ...(value as object), other: 'other' } : undefined;
  }
  if (enumType !== undefined) {
    return enumValues(partsOf(owner).file, enumType).find(
      (known) => known !== (value ?? field.default),
    );
  }
  if (kind === 'string') return `${typeof value === 'string' ? value : ''}x`;
  if (kind === 'int32' || kind === 'int64' || encoding === 'intOrString') {
    return typeof value === 'number' ? value + 1 : 1;
  }
  if (kind === 'bool') return value !== true;
  if (ref === 'meta/v1.LabelSelector') return { matchLabels: { other: 'other' } };
  return undefined;
}

function replaceAll(object: object, next: object): void {
  for (const name of Object.keys(object)) delete (object as Record<string, Json>)[name];
  Object.assign(object, structuredClone(next));
}

function errorsOf({ definition }: Example, body: object): readonly FieldError[] {
  return create(definition, body).causes;
}

function valueAt(body: object, path: Path): Json {
  return path.reduce<Json>(
    (value, step) => (value as Record<string, Json> | undefined)?.[step],
    body,
  );
}

/** A copy with another value at `path`; creates missing parents. */
function place(body: object, path: Path, change: (value: Json) => Json): object {
  const copy = structuredClone(body) as Record<string | number, Json>;
  let parent = copy;
  for (const [index, step] of path.slice(0, -1).entries()) {
    parent[step] ??= typeof path[index + 1] === 'number' ? [] : {};
    parent = parent[step] as Record<string | number, Json>;
  }
  const last = path.at(-1);
  if (last === undefined) return copy;
  const value = change(parent[last]);
  if (value === undefined && typeof last === 'string') delete parent[last];
  else parent[last] = value ?? {};
  return copy;
}

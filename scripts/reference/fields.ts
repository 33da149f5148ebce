/** The table of the fields of a type: type, required, default, meaning and rules. */
import { enumValues, type FieldDescriptor, schemaType, type TypeName } from '@orch/apimachinery';
import { FeatureGates } from '@orch/component';
import type { Catalogue } from './catalogue.js';
import { cell, code, link, table } from './markdown.js';
import { ruleTexts } from './rule-texts.js';
import type { Rules } from './rules.js';
import { canonical, fieldsOf, partsOf } from './shape.js';
import { valueHeadings, valuesPage } from './values-page.js';

/** The input of the pages. */
export interface Source {
  readonly catalogue: Catalogue;
  /** By type and field, see `findRules`. */
  readonly rules: ReadonlyMap<string, Rules>;
  /**
   * By type and field: the gate (undefined for an unsupported feature), and whether it covers the
   * whole field.
   */
  readonly gates: ReadonlyMap<string, Gate>;
}

/**
 * Number of known keys to list; there are many resource names, and they are the same everywhere.
 */
const keysShownMax = 4;

export interface Gate {
  readonly name: string;
  readonly isWhole: boolean;
}

const metaTexts: Readonly<Record<string, string>> = {
  'meta/v1.ObjectMeta': 'Standard object metadata: name, namespace, labels and others.',
};

const scalarNames: Readonly<Record<FieldDescriptor['kind'], string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer (64 bit)',
  double: 'number',
  bytes: 'base64 text',
  message: 'object',
  any: 'any value',
};

/**
 * The heading of a type's section, with the version if the page has several types with that name.
 */
export function headingOf(name: TypeName, { pages, pageOf }: Catalogue): string {
  const { file, type } = partsOf(name);
  const all = pages.get(pageOf.get(name) ?? '')?.types ?? [];
  const namesakes = all.filter((other) => partsOf(other).type === type);
  return namesakes.length > 1 && namesakes[0] !== name ? `${type} (${file})` : type;
}

export function typeLink(name: TypeName, from: string, catalogue: Catalogue): string {
  const shown = catalogue.standIns.get(name) ?? name;
  const { type } = partsOf(shown);
  const { encoding } = schemaType(shown);
  if (encoding !== undefined)
    return link(valueHeadings[encoding].toLowerCase(), from, valuesPage, valueHeadings[encoding]);
  const page = catalogue.pageOf.get(shown);
  return page === undefined ? type : link(type, from, page, headingOf(shown, catalogue));
}

export function typeText(field: FieldDescriptor, from: string, catalogue: Catalogue): string {
  const one =
    field.ref === undefined
      ? scalarNames[field.kind]
      : typeLink(canonical(field.ref), from, catalogue);
  if (field.cardinality === 'list') return `list of ${one}`;
  return field.cardinality === 'map' ? `map to ${one}` : one;
}

export function fieldsTable(name: TypeName, from: string, source: Source): string {
  const rows = fieldsOf(name).map(({ owner, field }) => {
    const rules = source.rules.get(`${owner} ${field.name}`);
    return [
      code(field.name),
      typeText(field, from, source.catalogue),
      field.required || rules?.isRequired ? 'yes' : '',
      field.default === undefined || field.default === '' ? '' : code(field.default),
      cell(meaning(owner, field, from, source)),
    ];
  });
  return rows.length === 0
    ? 'No fields.\n'
    : table(['field', 'type', 'required', 'default', 'meaning and rules'], rows);
}

function meaning(owner: TypeName, field: FieldDescriptor, from: string, source: Source): string {
  const rules = source.rules.get(`${owner} ${field.name}`);
  return [
    field.description ?? metaTexts[field.ref ?? ''] ?? '',
    ...valueTexts(owner, field, rules),
    ...(rules ? ruleTexts(rules, from, !from.startsWith('types/')) : []),
    ...mergeTexts(field),
    ...gateTexts(source.gates.get(`${owner} ${field.name}`)),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

function valueTexts(owner: TypeName, field: FieldDescriptor, rules: Rules | undefined): string[] {
  const { file } = partsOf(owner);
  const keys = field.keyEnumType === undefined ? [] : enumValues(file, field.keyEnumType);
  const known = field.enumType === undefined ? [] : enumValues(file, field.enumType);
  const list = (values: Iterable<string>) =>
    [...values].map((value) => code(value || '""')).join(', ');
  return [
    ...(keys.length > 0 ? [`Known keys: ${list(keys.slice(0, keysShownMax))} and others.`] : []),
    ...(rules && rules.values.size > 0
      ? [`One of ${list(rules.values)}.`]
      : known.length > 0
        ? [`Known values: ${list(known.filter((value) => value !== ''))}.`]
        : []),
  ];
}

/**
 * How apply and strategic merge patches treat a list or a map; other lists are replaced as a whole.
 */
function mergeTexts(field: FieldDescriptor): string[] {
  const { listType, listMapKeys, mergeKey, mergeStrategy, mapType, structType } = field;
  const keys = listMapKeys?.map(code).join(', ');
  const patchKey = mergeKey === undefined ? undefined : code(mergeKey);
  const texts: string[] = [];
  if (keys !== undefined && keys === patchKey) texts.push(`Merged by ${keys}.`);
  else {
    if (keys !== undefined) texts.push(`Applied by ${keys}.`);
    else if (listType === 'set') texts.push('Applied as a set.');
    if (patchKey !== undefined && field.cardinality) texts.push(`Patched by ${patchKey}.`);
    else if (mergeStrategy === 'merge') texts.push('Patches add to it.');
  }
  if (mapType === 'atomic' || structType === 'atomic') texts.push('Applied as a whole.');
  return texts;
}

function gateTexts(gate: Gate | undefined): string[] {
  if (!gate) return [];
  const state = new FeatureGates('apiserver').enabled(gate.name) ? 'on' : 'off';
  return [
    `${gate.isWhole ? 'Feature gate' : 'Partly behind feature gate'} ${code(gate.name)} (${state} by default).`,
  ];
}

/**
 * Texts for types and fields: those of the descriptors where there are some, else what follows from
 * the descriptor itself: the name in words, known values, the default, how lists are merged.
 */
import {
  enumValues,
  type FieldDescriptor,
  schemaFile,
  schemaType,
  type TypeName,
} from '@orch/apimachinery';
import { partsOf } from './models.js';

/** Values named in a description; more would hide the rest of it. */
const valuesShownMax = 40;

const commonFields: Readonly<Record<string, string>> = {
  metadata: 'Name, labels and what else every object has.',
  spec: 'What is wanted.',
  status: 'What was observed. Written by the system.',
  items: 'The elements of the list.',
};

/** `minReadySeconds` -> `Min ready seconds`, `podIPs` -> `Pod IPs`. */
function inWords(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z]{2,})/g, '$1 $2')
    .split(' ')
    .map((word) => (/^[A-Z]{2,}s?$/.test(word) ? word : word.toLowerCase()));
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function describeType(name: TypeName): string {
  const { file, type } = partsOf(name);
  const descriptor = schemaType(name);
  if (descriptor.description !== undefined) return descriptor.description;
  const { group, version } = schemaFile(file);
  const home = group === undefined ? '' : ` (${group} ${version})`;
  return `${inWords(type)}${home}.`;
}

export function describeField(owner: TypeName, field: FieldDescriptor): string {
  const words =
    field.description ??
    (field.kind === 'message' ? commonFields[field.name] : undefined) ??
    `${inWords(field.name)}.`;
  return [words, ...facts(owner, field)].join(' ');
}

function facts(owner: TypeName, field: FieldDescriptor): string[] {
  const result: string[] = [];
  const values =
    field.enumType === undefined ? [] : enumValues(partsOf(owner).file, field.enumType);
  const shown = values.filter((value) => value !== '').slice(0, valuesShownMax);
  if (shown.length > 0) result.push(`Known values: ${shown.join(', ')}.`);
  if (field.default !== undefined && field.default !== '') {
    result.push(`Default: ${field.default}.`);
  }
  if (field.listMapKeys) result.push(`Elements differ in ${field.listMapKeys.join(', ')}.`);
  else if (field.mergeKey !== undefined)
    result.push(`Patches match elements by ${field.mergeKey}.`);
  return result;
}

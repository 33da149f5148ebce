/** Validates the paths in a definition: of the scale subresource and of printer columns. */
import { type FieldError, type FieldPath, fieldError, isJsonObject } from '@orch/apimachinery';
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresourceScale,
} from '@orch/types/apiextensions/v1beta1';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
];

/** `at`: path of the scale. */
export function scaleErrors(
  scale: CustomResourceSubresourceScale,
  fieldPath: FieldPath,
): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const errors = [
    ...replicasErrors(specReplicasPath, '.spec', fieldPath.child('specReplicasPath')),
    ...replicasErrors(statusReplicasPath, '.status', fieldPath.child('statusReplicasPath')),
  ];
  if (labelSelectorPath) {
    const field = fieldPath.child('labelSelectorPath');
    const detail = 'should be a json path under either .spec or .status';
    errors.push(...pathErrors(labelSelectorPath, ['.spec.', '.status.'], detail, field));
  }
  return errors;
}

function replicasErrors(path: string | undefined, parent: string, field: FieldPath): FieldError[] {
  if (!path) return [fieldError.required(field)];
  return pathErrors(path, [`${parent}.`], `should be a json path under ${parent}`, field);
}

function pathErrors(
  path: string,
  starts: readonly string[],
  detail: string,
  field: FieldPath,
): FieldError[] {
  if (!path.startsWith('.')) return simplePathErrors(path, field);
  if (starts.some((start) => path.startsWith(start))) return [];
  return [fieldError.invalid(field, path, detail)];
}

function simplePathErrors(path: string, field: FieldPath): FieldError[] {
  if (path.startsWith('.')) return [];
  return [fieldError.invalid(field, path, 'must be a simple json path starting with .')];
}

export function columnErrors(
  column: CustomResourceColumnDefinition,
  fieldPath: FieldPath,
): FieldError[] {
  const { name, type, format, JSONPath } = column;
  const errors: FieldError[] = [];
  if (!name) errors.push(fieldError.required(fieldPath.child('name')));
  const types = `must be one of ${columnTypes.join(',')}`;
  if (!type) errors.push(fieldError.required(fieldPath.child('type'), types));
  else if (!columnTypes.includes(type))
    errors.push(fieldError.invalid(fieldPath.child('type'), type, types));
  if (format && !columnFormats.includes(format)) {
    const detail = `must be one of ${columnFormats.join(',')}`;
    errors.push(fieldError.invalid(fieldPath.child('format'), format, detail));
  }
  const field = fieldPath.child('JSONPath');
  if (JSONPath) errors.push(...simplePathErrors(JSONPath, field));
  else errors.push(fieldError.required(field));
  return errors;
}

/** The segments of a scale path: `.spec.replicas` yields `spec` and `replicas`. */
export function readFieldPath(path: string): string[] {
  return path.replace(/^\./, '').split('.');
}

/** The value at the path in an object; undefined if absent. */
export function fieldAt(object: unknown, names: readonly string[]): unknown {
  let value = object;
  for (const name of names) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

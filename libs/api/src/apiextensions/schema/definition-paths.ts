/** Paths that a definition names: of the scale of its objects and of the columns of their table. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
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

/** `at`: the scale. */
export function scaleErrors(scale: CustomResourceSubresourceScale, at: FieldPath): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const errors = [
    ...replicasErrors(specReplicasPath, '.spec', at.child('specReplicasPath')),
    ...replicasErrors(statusReplicasPath, '.status', at.child('statusReplicasPath')),
  ];
  if (labelSelectorPath) {
    const field = at.child('labelSelectorPath');
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

export function columnErrors(column: CustomResourceColumnDefinition, at: FieldPath): FieldError[] {
  const { name, type, format, JSONPath } = column;
  const errors: FieldError[] = [];
  if (!name) errors.push(fieldError.required(at.child('name')));
  const types = `must be one of ${columnTypes.join(',')}`;
  if (!type) errors.push(fieldError.required(at.child('type'), types));
  else if (!columnTypes.includes(type))
    errors.push(fieldError.invalid(at.child('type'), type, types));
  if (format && !columnFormats.includes(format)) {
    const detail = `must be one of ${columnFormats.join(',')}`;
    errors.push(fieldError.invalid(at.child('format'), format, detail));
  }
  const field = at.child('JSONPath');
  if (JSONPath) errors.push(...simplePathErrors(JSONPath, field));
  else errors.push(fieldError.required(field));
  return errors;
}

/** The names of a path of the scale: `.spec.replicas` goes by `spec` and `replicas`. */
export function readFieldPath(path: string): string[] {
  return path.replace(/^\./, '').split('.');
}

/** What stands there in an object; undefined where nothing does. */
export function fieldAt(object: unknown, names: readonly string[]): unknown {
  let value = object;
  for (const name of names) {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isMap || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

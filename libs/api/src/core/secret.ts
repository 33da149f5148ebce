/** Secret: bytes by key, with rules by type. Errors never contain the content. */
import {
  checkConfigMapKey,
  type FieldError,
  fieldError,
  immutable,
  path,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Secret } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';
import { base64ByteCount, dataBytesMax, validateFrozen } from './data.js';

/** Merges stringData, a write-only convenience field, into data. */
function mergeStringData(object: Secret): void {
  if (object.stringData === undefined) return;
  const written = Object.entries(object.stringData).map(
    ([key, text]) => [key, Buffer.from(text).toString('base64')] as const,
  );
  // Keys are data, whatever their names.
  const data = Object.fromEntries([...Object.entries(object.data ?? {}), ...written]);
  delete object.stringData;
  if (Object.keys(data).length > 0) object.data = data;
}

function validateSecret(object: Secret): FieldError[] {
  const errors: FieldError[] = [];
  let byteCount = 0;
  for (const [key, value] of Object.entries(object.data ?? {})) {
    errors.push(...invalidEach(path('data').key(key), key, checkConfigMapKey(key)));
    byteCount += base64ByteCount(value);
  }
  if (byteCount > dataBytesMax) errors.push(fieldError.tooLong(path('data'), dataBytesMax));
  errors.push(...validateByType(object));
  return errors;
}

function validateByType(object: Secret): FieldError[] {
  const key = (name: string) => dialect().key(name);
  switch (object.type) {
    case key('service-account-token'):
      return validateAccount(object, key('service-account.name'));
    case key('dockercfg'):
      return validateJson(object, '.dockercfg');
    case key('dockerconfigjson'):
      return validateJson(object, '.dockerconfigjson');
    case key('basic-auth'):
      // One of the two keys is enough.
      return object.data?.username === undefined && object.data?.password === undefined
        ? ['username', 'password'].map((name) =>
            fieldError.required(path('data').key('%s').key(name)),
          )
        : [];
    case key('ssh-auth'):
      return object.data?.['ssh-privatekey']
        ? []
        : [fieldError.required(path('data').key('%s').key('ssh-privatekey'))];
    case key('tls'):
      return ['tls.crt', 'tls.key']
        .filter((name) => object.data?.[name] === undefined)
        .map((name) => fieldError.required(path('data').key(name)));
    default:
      return [];
  }
}

function validateAccount(object: Secret, annotation: string): FieldError[] {
  return object.metadata?.annotations?.[annotation]
    ? []
    : [fieldError.required(path('metadata', 'annotations').key(annotation))];
}

function validateJson(object: Secret, name: string): FieldError[] {
  const fieldPath = path('data').key(name);
  const value = object.data?.[name];
  if (value === undefined) return [fieldError.required(fieldPath)];
  const detail = jsonProblem(Buffer.from(value, 'base64').toString());
  return detail === undefined
    ? []
    : [fieldError.invalid(fieldPath, '<secret contents redacted>', detail)];
}

function jsonProblem(text: string): string | undefined {
  const first = text.trimStart().charAt(0);
  if (first === '') return 'unexpected end of JSON input';
  if (!'{["-0123456789tfn'.includes(first)) {
    return `invalid character '${first}' looking for beginning of value`;
  }
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? undefined : 'must be a JSON object';
  } catch (error) {
    return error instanceof SyntaxError ? 'must be valid JSON' : String(error);
  }
}

export const secret = define<Secret>({
  plural: 'secrets',
  singular: '',
  kind: 'Secret',
  namespaced: true,
  versions: [{ group: 'core', version: 'v1', setDefaults: (object) => mergeStringData(object) }],
  stored: { group: 'core', version: 'v1' },
  prepareForUpdate(object, old) {
    if (!object.type) object.type = old.type;
  },
  validate: validateSecret,
  updateChecks: ['metadataUpdate', 'update', 'metadata', 'object'],
  validateUpdate(object, old) {
    const errors: FieldError[] = [];
    if (object.type !== old.type) errors.push(immutable(path('type'), object.type));
    errors.push(...validateFrozen(object, old, ['data']));
    return errors;
  },
  columns: [
    nameColumn(),
    {
      name: 'Type',
      type: 'string',
      description: 'Type of the secret.',
      cell: (object) => object.type ?? '',
    },
    {
      name: 'Data',
      type: 'string',
      description: 'Number of keys.',
      cell: (object) => Object.keys(object.data ?? {}).length,
    },
    ageColumn(),
  ],
  selectableFields: { type: (object) => object.type ?? '' },
});

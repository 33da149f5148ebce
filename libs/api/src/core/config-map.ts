/** ConfigMap: configuration as text and bytes by key. */
import { checkConfigMapKey, type FieldError, fieldError, path } from '@orch/apimachinery';
import type { ConfigMap } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';
import { base64ByteCount, dataBytesMax, validateFrozen } from './data.js';

function validateConfigMap(object: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  let byteCount = 0;
  for (const [key, value] of Object.entries(object.data ?? {})) {
    const fieldPath = path('data').key(key);
    errors.push(...invalidEach(fieldPath, key, checkConfigMapKey(key)));
    if (Object.hasOwn(object.binaryData ?? {}, key)) {
      errors.push(fieldError.invalid(fieldPath, key, 'duplicate of key present in binaryData'));
    }
    byteCount += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(object.binaryData ?? {})) {
    errors.push(...invalidEach(path('binaryData').key(key), key, checkConfigMapKey(key)));
    byteCount += base64ByteCount(value);
  }
  if (byteCount > dataBytesMax) errors.push(fieldError.tooLong('[]', dataBytesMax));
  return errors;
}

export const configMap = define<ConfigMap>({
  plural: 'configmaps',
  singular: '',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  namespaced: true,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  validate: validateConfigMap,
  updateChecks: ['metadataUpdate', 'update', 'metadata', 'object'],
  validateUpdate: (object, old) => validateFrozen(object, old, ['data', 'binaryData']),
  columns: [
    nameColumn(),
    {
      name: 'Data',
      type: 'string',
      description: 'Number of keys.',
      cell: (object) =>
        Object.keys(object.data ?? {}).length + Object.keys(object.binaryData ?? {}).length,
    },
    ageColumn(),
  ],
});

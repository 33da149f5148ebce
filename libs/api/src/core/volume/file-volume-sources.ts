/** Validates volume sources that consist of files: secrets, config maps, pod fields, tokens. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '@orch/types/core/v1';
import { validateLocalNonReservedPath } from '../common/path-rules.js';
import {
  validateFieldReference,
  validateResourceReference,
} from '../container/environment-validation.js';

const fileFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const modeMax = 0o777;
const modeDetail = 'must be a number between 0 and 0777 (octal), both inclusive';
const tokenSecondsMin = 10 * 60;
const tokenSecondsMax = 2 ** 32;

function validateMode(mode: number | undefined, fieldPath: FieldPath): FieldError[] {
  return mode !== undefined && (mode < 0 || mode > modeMax)
    ? [fieldError.invalid(fieldPath, mode, modeDetail)]
    : [];
}

export function validateSecretSource(
  source: SecretVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = source.secretName ? [] : [fieldError.required(fieldPath.child('secretName'))];
  errors.push(...validateMode(source.defaultMode, fieldPath.child('defaultMode')));
  errors.push(...validateItems(source.items, fieldPath.child('items')));
  return errors;
}

export function validateConfigMapSource(
  source: ConfigMapVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = source.name ? [] : [fieldError.required(fieldPath.child('name'))];
  errors.push(...validateMode(source.defaultMode, fieldPath.child('defaultMode')));
  errors.push(...validateItems(source.items, fieldPath.child('items')));
  return errors;
}

function validateItems(
  items: readonly KeyToPath[] | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return (items ?? []).flatMap((item, index) => {
    const field = fieldPath.index(index);
    const errors = item.key ? [] : [fieldError.required(field.child('key'))];
    if (!item.path) errors.push(fieldError.required(field.child('path')));
    errors.push(...validateLocalNonReservedPath(item.path ?? '', field.child('path')));
    errors.push(...validateMode(item.mode, field.child('mode')));
    return errors;
  });
}

/** Errors of single files are reported at the source. */
export function validateDownwardSource(
  source: DownwardAPIVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...validateMode(source.defaultMode, fieldPath.child('defaultMode')),
    ...(source.items ?? []).flatMap((file) => validateDownwardFile(file, fieldPath)),
  ];
}

function validateDownwardFile(file: DownwardAPIVolumeFile, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!file.path) errors.push(fieldError.required(fieldPath.child('path')));
  errors.push(...validateLocalNonReservedPath(file.path ?? '', fieldPath.child('path')));
  if (file.fieldRef) {
    errors.push(...validateFieldReference(file.fieldRef, fileFields, fieldPath.child('fieldRef')));
    if (file.resourceFieldRef) {
      errors.push(
        fieldError.invalid(
          fieldPath,
          'resource',
          'fieldRef and resourceFieldRef can not be specified simultaneously',
        ),
      );
    }
  } else if (file.resourceFieldRef) {
    errors.push(
      ...validateResourceReference(
        file.resourceFieldRef,
        true,
        fieldPath.child('resourceFieldRef'),
      ),
    );
  } else {
    errors.push(fieldError.required(fieldPath, 'one of fieldRef and resourceFieldRef is required'));
  }
  errors.push(...validateMode(file.mode, fieldPath.child('mode')));
  return errors;
}

export function validateProjected(
  source: ProjectedVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = validateMode(source.defaultMode, fieldPath.child('defaultMode'));
  const paths = new Set<string>();
  for (const [index, projection] of (source.sources ?? []).entries()) {
    errors.push(
      ...validateProjection(projection, fieldPath.child('sources').index(index), fieldPath, paths),
    );
  }
  return errors;
}

function validateProjection(
  projection: VolumeProjection,
  fieldPath: FieldPath,
  volumeAt: FieldPath,
  paths: Set<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  let sourceCount = 0;
  const take = (field: string, check: (fieldPath: FieldPath) => FieldError[]) => {
    sourceCount += 1;
    errors.push(...check(fieldPath.child(field)));
  };
  const claim = (path: string | undefined, kind: string) => {
    if (!path) return;
    if (paths.has(path)) {
      errors.push(fieldError.invalid(volumeAt, path, `conflicting duplicate paths (${kind})`));
    }
    paths.add(path);
  };
  const { secret, configMap, downwardAPI, serviceAccountToken } = projection;
  if (secret) {
    take('secret', (field) => [
      ...(secret.name ? [] : [fieldError.required(field.child('name'))]),
      ...validateItems(secret.items, field.child('items')),
    ]);
    for (const item of secret.items ?? []) claim(item.path, 'secret');
  }
  if (configMap) {
    take('configMap', (field) => [
      ...(configMap.name ? [] : [fieldError.required(field.child('name'))]),
      ...validateItems(configMap.items, field.child('items')),
    ]);
    for (const item of configMap.items ?? []) claim(item.path, 'configMap');
  }
  if (downwardAPI) {
    take('downwardAPI', (field) =>
      (downwardAPI.items ?? []).flatMap((file) => validateDownwardFile(file, field)),
    );
    for (const item of downwardAPI.items ?? []) claim(item.path, 'downwardAPI');
  }
  if (serviceAccountToken) {
    take('serviceAccountToken', (field) => validateToken(serviceAccountToken, field, volumeAt));
  }
  if (sourceCount > 1) {
    errors.push(fieldError.forbidden(fieldPath, 'may not specify more than 1 volume type'));
  }
  return errors;
}

function validateToken(
  token: ServiceAccountTokenProjection,
  fieldPath: FieldPath,
  volumeAt: FieldPath,
): FieldError[] {
  const seconds = token.expirationSeconds ?? 0;
  const field = fieldPath.child('expirationSeconds');
  const errors: FieldError[] = [];
  if (seconds < tokenSecondsMin) {
    errors.push(
      fieldError.invalid(field, seconds, 'may not specify a duration less than 10 minutes'),
    );
  }
  if (seconds > tokenSecondsMax) {
    errors.push(
      fieldError.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'),
    );
  }
  if (!token.path) errors.push(fieldError.required(volumeAt.child('path')));
  return errors;
}

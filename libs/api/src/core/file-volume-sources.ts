/** Rules of volume sources that are made of files: secrets, config maps, fields of the pod, tokens. */
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
import { validateFieldReference, validateResourceReference } from './environment-validation.js';
import { validateLocalNonReservedPath } from './path-rules.js';

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

function validateMode(mode: number | undefined, at: FieldPath): FieldError[] {
  return mode !== undefined && (mode < 0 || mode > modeMax)
    ? [fieldError.invalid(at, mode, modeDetail)]
    : [];
}

export function validateSecretSource(source: SecretVolumeSource, at: FieldPath): FieldError[] {
  const errors = source.secretName ? [] : [fieldError.required(at.child('secretName'))];
  errors.push(...validateMode(source.defaultMode, at.child('defaultMode')));
  errors.push(...validateItems(source.items, at.child('items')));
  return errors;
}

export function validateConfigMapSource(
  source: ConfigMapVolumeSource,
  at: FieldPath,
): FieldError[] {
  const errors = source.name ? [] : [fieldError.required(at.child('name'))];
  errors.push(...validateMode(source.defaultMode, at.child('defaultMode')));
  errors.push(...validateItems(source.items, at.child('items')));
  return errors;
}

function validateItems(items: readonly KeyToPath[] | undefined, at: FieldPath): FieldError[] {
  return (items ?? []).flatMap((item, index) => {
    const field = at.index(index);
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
  at: FieldPath,
): FieldError[] {
  return [
    ...validateMode(source.defaultMode, at.child('defaultMode')),
    ...(source.items ?? []).flatMap((file) => validateDownwardFile(file, at)),
  ];
}

function validateDownwardFile(file: DownwardAPIVolumeFile, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!file.path) errors.push(fieldError.required(at.child('path')));
  errors.push(...validateLocalNonReservedPath(file.path ?? '', at.child('path')));
  if (file.fieldRef) {
    errors.push(...validateFieldReference(file.fieldRef, fileFields, at.child('fieldRef')));
    if (file.resourceFieldRef) {
      errors.push(
        fieldError.invalid(
          at,
          'resource',
          'fieldRef and resourceFieldRef can not be specified simultaneously',
        ),
      );
    }
  } else if (file.resourceFieldRef) {
    errors.push(
      ...validateResourceReference(file.resourceFieldRef, true, at.child('resourceFieldRef')),
    );
  } else {
    errors.push(fieldError.required(at, 'one of fieldRef and resourceFieldRef is required'));
  }
  errors.push(...validateMode(file.mode, at.child('mode')));
  return errors;
}

export function validateProjected(source: ProjectedVolumeSource, at: FieldPath): FieldError[] {
  const errors = validateMode(source.defaultMode, at.child('defaultMode'));
  const paths = new Set<string>();
  for (const [index, projection] of (source.sources ?? []).entries()) {
    errors.push(...validateProjection(projection, at.child('sources').index(index), at, paths));
  }
  return errors;
}

function validateProjection(
  projection: VolumeProjection,
  at: FieldPath,
  volumeAt: FieldPath,
  paths: Set<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  let sourceCount = 0;
  const take = (field: string, check: (at: FieldPath) => FieldError[]) => {
    if (sourceCount > 0) {
      errors.push(fieldError.forbidden(at.child(field), 'may not specify more than 1 volume type'));
      return;
    }
    sourceCount += 1;
    errors.push(...check(at.child(field)));
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
  return errors;
}

function validateToken(
  token: ServiceAccountTokenProjection,
  at: FieldPath,
  volumeAt: FieldPath,
): FieldError[] {
  const seconds = token.expirationSeconds ?? 0;
  const field = at.child('expirationSeconds');
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

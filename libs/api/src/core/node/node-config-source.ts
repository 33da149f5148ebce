/** Validates the configuration source of a node's agent, in the spec and in the status. */
import {
  checkConfigMapKey,
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
} from '@orch/apimachinery';
import type { ConfigMapNodeConfigSource, Node, NodeConfigSource } from '@orch/types/core/v1';
import { invalidEach } from '../../shared/rules.js';

export function validateConfigSource(object: Node): FieldError[] {
  const specified = object.spec?.configSource;
  const used = object.status?.config;
  const errors = specified
    ? validateSource(specified, path('spec', 'configSource'), validateWanted)
    : [];
  for (const field of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = used?.[field];
    if (!source) continue;
    errors.push(...validateSource(source, path('status', 'config', field), validateUsed));
  }
  return errors;
}

function validateSource(
  source: NodeConfigSource,
  fieldPath: FieldPath,
  validate: (source: ConfigMapNodeConfigSource, fieldPath: FieldPath) => FieldError[],
): FieldError[] {
  return source.configMap
    ? validate(source.configMap, fieldPath.child('configMap'))
    : [fieldError.invalid(fieldPath, source, 'exactly one reference subfield must be non-nil')];
}

/** The version of the config map belongs in the status. */
function validateWanted(source: ConfigMapNodeConfigSource, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (source[field]) {
      errors.push(fieldError.forbidden(fieldPath.child(field), `${field} must not be set in spec`));
    }
  }
  return [...errors, ...validateReference(source, fieldPath)];
}

function validateUsed(source: ConfigMapNodeConfigSource, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (!source[field]) {
      errors.push(fieldError.required(fieldPath.child(field), `${field} must be set in status`));
    }
  }
  return [...errors, ...validateReference(source, fieldPath)];
}

const formats = {
  namespace: checkDns1123Label,
  name: checkDns1123Subdomain,
  kubeletConfigKey: checkConfigMapKey,
} as const;

function validateReference(source: ConfigMapNodeConfigSource, fieldPath: FieldPath): FieldError[] {
  return (['namespace', 'name', 'kubeletConfigKey'] as const).flatMap((field) => {
    const value = source[field];
    return value
      ? invalidEach(fieldPath.child(field), value, formats[field](value))
      : [fieldError.required(fieldPath.child(field), `${field} must be set`)];
  });
}

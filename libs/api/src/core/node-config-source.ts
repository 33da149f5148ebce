/** Rules of where a node takes the configuration of its agent from: what is asked for, and what is in use. */
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
import { invalidEach } from '../shared/rules.js';

export function validateConfigSource(object: Node): FieldError[] {
  const wanted = object.spec?.configSource;
  const used = object.status?.config;
  const errors = wanted ? validateSource(wanted, path('spec', 'configSource'), validateWanted) : [];
  for (const field of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = used?.[field];
    if (!source) continue;
    errors.push(...validateSource(source, path('status', 'config', field), validateUsed));
  }
  return errors;
}

function validateSource(
  source: NodeConfigSource,
  at: FieldPath,
  validate: (source: ConfigMapNodeConfigSource, at: FieldPath) => FieldError[],
): FieldError[] {
  return source.configMap
    ? validate(source.configMap, at.child('configMap'))
    : [fieldError.invalid(at, source, 'exactly one reference subfield must be non-nil')];
}

/** Which version of the map it is stands in the status. */
function validateWanted(source: ConfigMapNodeConfigSource, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (source[field]) {
      errors.push(fieldError.forbidden(at.child(field), `${field} must not be set in spec`));
    }
  }
  return [...errors, ...validateReference(source, at)];
}

function validateUsed(source: ConfigMapNodeConfigSource, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (!source[field]) {
      errors.push(fieldError.required(at.child(field), `${field} must be set in status`));
    }
  }
  return [...errors, ...validateReference(source, at)];
}

const formats = {
  namespace: checkDns1123Label,
  name: checkDns1123Subdomain,
  kubeletConfigKey: checkConfigMapKey,
} as const;

function validateReference(source: ConfigMapNodeConfigSource, at: FieldPath): FieldError[] {
  return (['namespace', 'name', 'kubeletConfigKey'] as const).flatMap((field) => {
    const value = source[field];
    return value
      ? invalidEach(at.child(field), value, formats[field](value))
      : [fieldError.required(at.child(field), `${field} must be set`)];
  });
}

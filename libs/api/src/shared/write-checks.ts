/**
 * Every check of a write of an object, in the upstream order: the checks of all kinds, then those
 * of the kind. Clients expect an error once for each check that finds it.
 */
import {
  type FieldError,
  type ObjectMetaRules,
  pathSegmentName,
  subdomainName,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@orch/apimachinery';
import type { ApiObject, ResourceDefinition, StrategyContext, WriteCheck } from '../definition.js';

const createChecks: readonly WriteCheck[] = ['metadata', 'object'];
const updateChecks: readonly WriteCheck[] = ['metadataUpdate', 'metadata', 'object', 'update'];

/** The errors of an object to create. */
export function createErrors(
  object: ApiObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): FieldError[] {
  const checks = definition.createChecks ?? createChecks;
  const errors = checks.flatMap((check): readonly FieldError[] => {
    if (check === 'metadata') return metadataErrors(object, definition);
    return [
      ...(definition.validate?.(object, context) ?? []),
      ...(definition.validateCreate?.(object, context) ?? []),
    ];
  });
  if (errors.length > 0 || (checks.includes('metadata') && !definition.validateName)) return errors;
  return validateObjectMeta(object.metadata ?? {}, commonRules(definition));
}

/** The errors of an object that replaces `old`. */
export function updateErrors(
  object: ApiObject,
  old: ApiObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): FieldError[] {
  const checks = definition.updateChecks ?? updateChecks;
  const run: Readonly<Record<WriteCheck, () => readonly FieldError[]>> = {
    metadata: () => metadataErrors(object, definition),
    metadataUpdate: () => metadataUpdateErrors(object, old, definition),
    object: () => definition.validate?.(object, context) ?? [],
    update: () => definition.validateUpdate?.(object, old, context) ?? [],
  };
  const errors = checks.flatMap((check) => run[check]());
  const covered = checks.includes('metadata') && checks.includes('metadataUpdate');
  return covered && errors.length === 0
    ? errors
    : [...commonUpdateErrors(object, old, definition), ...errors];
}

/** The errors of a write of a subresource that consists of the whole object, such as `status`. */
export function partErrors(
  object: ApiObject,
  old: ApiObject,
  definition: ResourceDefinition,
  own: readonly FieldError[],
): FieldError[] {
  return [
    ...commonUpdateErrors(object, old, definition),
    ...metadataUpdateErrors(object, old, definition),
    ...own,
  ];
}

/** The checks of an update that every kind has beside its own. */
function commonUpdateErrors(
  object: ApiObject,
  old: ApiObject,
  definition: ResourceDefinition,
): FieldError[] {
  return [
    ...validateObjectMeta(object.metadata ?? {}, commonRules(definition)),
    ...validateObjectMetaUpdate(object.metadata ?? {}, old.metadata ?? {}, false),
  ];
}

function commonRules({ namespaced }: ResourceDefinition): ObjectMetaRules {
  return { namespaced, validateName: pathSegmentName, strictFinalizers: false };
}

function metadataErrors(object: ApiObject, definition: ResourceDefinition): FieldError[] {
  const { namespaced, validateName = subdomainName, strictFinalizers = true } = definition;
  return validateObjectMeta(object.metadata ?? {}, {
    namespaced,
    validateName: (name, prefix) => validateName(name, prefix, object),
    strictFinalizers,
  });
}

function metadataUpdateErrors(
  object: ApiObject,
  old: ApiObject,
  { strictFinalizers = true }: ResourceDefinition,
): FieldError[] {
  return validateObjectMetaUpdate(object.metadata ?? {}, old.metadata ?? {}, strictFinalizers);
}

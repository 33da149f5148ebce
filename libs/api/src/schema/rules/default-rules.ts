/**
 * Validates defaults: no unknown fields, valid by their schema, and defaults in metadata must
 * result in valid metadata.
 */
import {
  deepCopy,
  deepEqual,
  type FieldError,
  type FieldPath,
  fieldError,
  fieldErrorMessage,
  type Json,
  path,
  setKey,
} from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { addErrors } from '../common/field-errors.js';
import { reportedValue } from '../common/value-text.js';
import { coerceEmbedded, embeddedErrors } from '../structural/embedded-resources.js';
import { pruneUnknown } from '../structural/prune.js';
import {
  asResource,
  envelopeMembers,
  type Structural,
  structuralOf,
} from '../structural/structural.js';
import { checkErrors, compileCheck } from '../values/check-values.js';
import { hasDefaults } from './parts.js';
import { isStructural } from './structural-rules.js';

/** The enclosing resource, with the path from it; an element is the first of its list. */
interface Surroundings {
  readonly resource: Structural;
  readonly steps: readonly (string | number)[];
  readonly isInEnvelope: boolean;
}

/** The schema must be structural. */
export function defaultErrors(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  requirePruned: boolean,
): FieldError[] {
  const resource = asResource(structuralOf(schema));
  return errorsAt(resource, fieldPath, requirePruned, surroundingsOf(resource));
}

function surroundingsOf(resource: Structural): Surroundings {
  return { resource, steps: [], isInEnvelope: false };
}

/** Skips additionalProperties, whose defaults have no effect. */
function errorsAt(
  structural: Structural,
  fieldPath: FieldPath,
  requirePruned: boolean,
  outer: Surroundings,
): FieldError[] {
  if (!structural.hasDefaults) return [];
  const { extensions, items, properties, default: fallback } = structural;
  const isResource = extensions.embeddedResource === true;
  const around = isResource ? surroundingsOf(structural) : outer;
  const errors: FieldError[] = [];
  const field = fieldPath.child('default');
  if (fallback !== undefined) {
    addErrors(
      errors,
      around.isInEnvelope
        ? envelopeDefaultErrors(fallback, structural, field, around)
        : plainDefaultErrors(fallback, structural, field, requirePruned),
    );
  }
  const within = (step: string | number, isInEnvelope: boolean): Surroundings => ({
    resource: around.resource,
    steps: [...around.steps, step],
    isInEnvelope: around.isInEnvelope || isInEnvelope,
  });
  if (items)
    addErrors(errors, errorsAt(items, fieldPath.child('items'), requirePruned, within(0, false)));
  for (const [name, member] of properties) {
    const place = within(name, isResource && envelopeMembers.has(name));
    const memberAt = fieldPath.child('properties').key(name);
    addErrors(errors, errorsAt(member, memberAt, requirePruned, place));
  }
  return errors;
}

function plainDefaultErrors(
  fallback: Json,
  structural: Structural,
  fieldPath: FieldPath,
  requirePruned: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (requirePruned && !isPruned(fallback, structural)) {
    errors.push(
      fieldError.invalid(fieldPath, reportedValue(fallback), 'must not have unknown fields'),
    );
  }
  const value = deepCopy(fallback);
  addErrors(
    errors,
    firstErrors(
      () => coerceEmbedded(value, structural, false, fieldPath).slice(0, 1),
      () => embeddedErrors(value, structural, fieldPath),
      () => checkErrors(compileCheck(structural.schema), value, fieldPath),
    ),
  );
  return errors;
}

function envelopeDefaultErrors(
  fallback: Json,
  structural: Structural,
  fieldPath: FieldPath,
  { resource, steps }: Surroundings,
): FieldError[] {
  const object = { apiVersion: 'validation/v1', kind: 'Validation', ...wrapped(fallback, steps) };
  const root = path();
  const faults = firstErrors(
    () => coerceEmbedded(object, resource, false, root).slice(0, 1),
    () => embeddedErrors(object, resource, root),
  ).map(fieldErrorMessage);
  if (faults.length === 0) return checkErrors(compileCheck(structural.schema), fallback, fieldPath);
  const text = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
  return [
    fieldError.invalid(
      fieldPath,
      reportedValue(fallback),
      `must result in valid metadata: ${text}`,
    ),
  ];
}

/** The errors of the first rule that reports any. */
function firstErrors(...rules: readonly (() => FieldError[])[]): FieldError[] {
  for (const rule of rules) {
    const errors = rule();
    if (errors.length > 0) return errors;
  }
  return [];
}

/** The value wrapped in objects and lists along the path. */
function wrapped(value: Json, steps: readonly (string | number)[]): Record<string, Json> {
  let inner = deepCopy(value);
  for (const step of steps.toReversed()) {
    if (typeof step === 'number') inner = [inner];
    else {
      const outer = {};
      setKey(outer, step, inner);
      inner = outer;
    }
  }
  return inner as Record<string, Json>;
}

function isPruned(value: Json, structural: Structural): boolean {
  const pruned = deepCopy(value);
  pruneUnknown(pruned, structural);
  return deepEqual(pruned, value);
}

/** Reports whether a stored structural schema has a default with unknown fields. */
export function hasUnprunedDefaults(schema: JSONSchemaProps): boolean {
  return hasDefaults(schema) && isStructural(schema) && holdsUnpruned(structuralOf(schema));
}

function holdsUnpruned(structural: Structural): boolean {
  const { default: fallback, items, properties, additional } = structural;
  if (fallback !== undefined && !isPruned(fallback, structural)) return true;
  const parts = [
    items,
    ...properties.values(),
    typeof additional === 'object' ? additional : undefined,
  ];
  return parts.some((part) => part?.hasDefaults && holdsUnpruned(part));
}

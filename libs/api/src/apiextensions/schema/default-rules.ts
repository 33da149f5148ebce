/** Defaults must hold what their schema knows and fit it; those of metadata must make valid metadata. */
import {
  deepCopy,
  deepEqual,
  type FieldError,
  FieldPath,
  fieldError,
  fieldErrorMessage,
  type Json,
  setKey,
} from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { checkErrors, compileCheck } from './check-values.js';
import { coerceEmbedded, embeddedErrors } from './embedded-resources.js';
import { addErrors } from './field-errors.js';
import { hasDefaults } from './parts.js';
import { pruneUnknown } from './prune.js';
import { asResource, envelopeMembers, type Structural, structuralOf } from './structural.js';
import { isStructural } from './structural-rules.js';
import { shown } from './value-text.js';

/** The resource around a place, with the way from it; an element is the first of its list. */
interface Surroundings {
  readonly resource: Structural;
  readonly steps: readonly (string | number)[];
  readonly isInEnvelope: boolean;
}

/** Of a structural schema. */
export function defaultErrors(
  schema: JSONSchemaProps,
  at: FieldPath,
  requirePruned: boolean,
): FieldError[] {
  const resource = asResource(structuralOf(schema));
  return errorsAt(resource, at, requirePruned, surroundingsOf(resource));
}

function surroundingsOf(resource: Structural): Surroundings {
  return { resource, steps: [], isInEnvelope: false };
}

/** Members that are no properties are not looked at: there are no defaults of theirs. */
function errorsAt(
  structural: Structural,
  at: FieldPath,
  requirePruned: boolean,
  outer: Surroundings,
): FieldError[] {
  if (!structural.hasDefaults) return [];
  const { extensions, items, properties, default: fallback } = structural;
  const isResource = extensions.embeddedResource === true;
  const around = isResource ? surroundingsOf(structural) : outer;
  const errors: FieldError[] = [];
  const field = at.child('default');
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
  if (items) addErrors(errors, errorsAt(items, at.child('items'), requirePruned, within(0, false)));
  for (const [name, member] of properties) {
    const place = within(name, isResource && envelopeMembers.has(name));
    const memberAt = at.child('properties').key(name);
    addErrors(errors, errorsAt(member, memberAt, requirePruned, place));
  }
  return errors;
}

function plainDefaultErrors(
  fallback: Json,
  structural: Structural,
  at: FieldPath,
  requirePruned: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (requirePruned && !isPruned(fallback, structural)) {
    errors.push(fieldError.invalid(at, shown(fallback), 'must not have unknown fields'));
  }
  const value = deepCopy(fallback);
  addErrors(
    errors,
    firstErrors(
      () => coerceEmbedded(value, structural, false, at).slice(0, 1),
      () => embeddedErrors(value, structural, at),
      () => checkErrors(compileCheck(structural.schema), value, at),
    ),
  );
  return errors;
}

function envelopeDefaultErrors(
  fallback: Json,
  structural: Structural,
  at: FieldPath,
  { resource, steps }: Surroundings,
): FieldError[] {
  const object = { apiVersion: 'validation/v1', kind: 'Validation', ...wrapped(fallback, steps) };
  const root = new FieldPath('');
  const faults = firstErrors(
    () => coerceEmbedded(object, resource, false, root).slice(0, 1),
    () => embeddedErrors(object, resource, root),
  ).map(fieldErrorMessage);
  if (faults.length === 0) return checkErrors(compileCheck(structural.schema), fallback, at);
  const text = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`;
  return [fieldError.invalid(at, shown(fallback), `must result in valid metadata: ${text}`)];
}

/** What the first of the rules that finds something finds. */
function firstErrors(...rules: readonly (() => FieldError[])[]): FieldError[] {
  for (const rule of rules) {
    const errors = rule();
    if (errors.length > 0) return errors;
  }
  return [];
}

/** The value at the end of a way from an object. */
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

/** Has a stored structural schema a default that holds what the schema does not know? */
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

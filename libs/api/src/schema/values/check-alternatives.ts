/** Checks anyOf, oneOf, allOf and not. */
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import type { Outcome, ValueCheck } from './outcome.js';

export function compileAlternatives(
  schema: JSONSchemaProps,
  compile: (schema: JSONSchemaProps) => ValueCheck,
): ValueCheck | undefined {
  const anyOf = (schema.anyOf ?? []).map(compile);
  const oneOf = (schema.oneOf ?? []).map(compile);
  const allOf = (schema.allOf ?? []).map(compile);
  const not = schema.not ? compile(schema.not) : undefined;
  if (anyOf.length + oneOf.length + allOf.length === 0 && !not) return undefined;
  return (value, name, outcome) => {
    if (anyOf.length > 0) checkAny(anyOf, value, name, outcome);
    if (oneOf.length > 0) checkOne(oneOf, value, name, outcome);
    if (allOf.length > 0) checkAll(allOf, value, name, outcome);
    if (not && tryOut(not, value, name, outcome).isValid) {
      outcome.composite(name, 'must not validate the schema (not)');
    }
  };
}

function tryOut(check: ValueCheck, value: unknown, name: string, outcome: Outcome): Outcome {
  const found = outcome.alternative();
  check(value, name, found);
  return found;
}

/** The closer match; the first one if they are equal. */
function better(best: Outcome | undefined, other: Outcome): Outcome {
  return best && best.matchCount >= other.matchCount ? best : other;
}

function checkAny(checks: readonly ValueCheck[], value: unknown, name: string, outcome: Outcome) {
  let closest: Outcome | undefined;
  for (const check of checks) {
    const found = tryOut(check, value, name, outcome);
    if (found.isValid) {
      outcome.merge(found);
      return;
    }
    closest = better(closest, found);
  }
  outcome.composite(name, 'must validate at least one schema (anyOf)');
  if (closest) outcome.merge(closest);
}

function checkOne(checks: readonly ValueCheck[], value: unknown, name: string, outcome: Outcome) {
  let closest: Outcome | undefined;
  const fitting: Outcome[] = [];
  for (const check of checks) {
    const found = tryOut(check, value, name, outcome);
    if (found.isValid) fitting.push(found);
    else closest = better(closest, found);
  }
  const [first] = fitting;
  if (first && fitting.length === 1) {
    outcome.merge(first);
    return;
  }
  const count = first ? `Found ${fitting.length} valid alternatives` : 'Found none valid';
  outcome.composite(name, `must validate one and only one schema (oneOf). ${count}`);
  if (!first && closest) outcome.merge(closest);
}

function checkAll(checks: readonly ValueCheck[], value: unknown, name: string, outcome: Outcome) {
  let fittingCount = 0;
  for (const check of checks) {
    const found = tryOut(check, value, name, outcome);
    if (found.isValid) fittingCount += 1;
    outcome.merge(found);
  }
  if (fittingCount === checks.length) return;
  const none = fittingCount === 0 ? '. None validated' : '';
  outcome.composite(name, `must validate all the schemas (allOf)${none}`);
}

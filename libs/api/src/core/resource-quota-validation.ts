/** Rules of quotas: known names, and scopes that fit what is counted and each other. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import {
  isStandardQuotaName,
  validateAmount,
  validateQuotaResourceName,
} from './resource-rules.js';

export function validateQuotaAmounts(
  amounts: Readonly<Record<string, string>> | undefined,
  at: FieldPath,
): FieldError[] {
  return Object.entries(amounts ?? {}).flatMap(([name, amount]) => [
    ...validateQuotaResourceName(name, at.key(name)),
    ...validateAmount(name, amount, at.key(name)),
  ]);
}

export function validateQuotaSpec(spec: ResourceQuotaSpec, at: FieldPath): FieldError[] {
  return [
    ...validateQuotaAmounts(spec.hard, at.child('hard')),
    ...validateScopes(spec, at.child('scopes')),
    ...validateScopeSelector(spec, at.child('scopeSelector')),
  ];
}

const podNames = ['pods'];
const computeNames = [
  ...podNames,
  ...['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'],
];

/** What can be counted by scope. */
const countable: ReadonlyMap<string, readonly string[]> = new Map([
  ['Terminating', computeNames],
  ['NotTerminating', computeNames],
  ['BestEffort', podNames],
  ['NotBestEffort', computeNames],
  ['PriorityClass', computeNames],
]);
const conflicts: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

const hasConflict = (scopes: readonly string[], pair: readonly string[]) =>
  pair.every((scope) => scopes.includes(scope));

/** Standard resources of the quota that the scope cannot count. */
function uncounted(spec: ResourceQuotaSpec, scope: string): readonly string[] {
  const names = countable.get(scope);
  return Object.keys(spec.hard ?? {}).filter(
    (name) => names && isStandardQuotaName(name) && !names.includes(name),
  );
}

function validateScopes(spec: ResourceQuotaSpec, at: FieldPath): FieldError[] {
  const scopes = spec.scopes ?? [];
  const refusal = (detail: string) => fieldError.invalid(at, scopes, detail);
  return [
    ...scopes.flatMap((scope) => [
      ...(countable.has(scope) ? [] : [refusal('unsupported scope')]),
      ...uncounted(spec, scope).map(() => refusal('unsupported scope applied to resource')),
    ]),
    ...conflicts
      .filter((pair) => hasConflict(scopes, pair))
      .map(() => refusal('conflicting scopes')),
  ];
}

/** Errors name the list of expressions. */
function validateScopeSelector(spec: ResourceQuotaSpec, at: FieldPath): FieldError[] {
  if (!spec.scopeSelector) return [];
  const field = at.child('matchExpressions');
  const expressions = spec.scopeSelector.matchExpressions ?? [];
  const scopes = expressions.map(({ scopeName }) => scopeName);
  return [
    ...expressions.flatMap((expression) => [
      ...(countable.has(expression.scopeName)
        ? []
        : [
            fieldError.invalid(field.child('scopeName'), expression.scopeName, 'unsupported scope'),
          ]),
      ...uncounted(spec, expression.scopeName).map(() =>
        fieldError.invalid(field, spec.scopeSelector, 'unsupported scope applied to resource'),
      ),
      ...validateExpression(expression, field),
    ]),
    ...conflicts
      .filter((pair) => hasConflict(scopes, pair))
      .map(() => fieldError.invalid(field, spec.scopes ?? [], 'conflicting scopes')),
  ];
}

/** Only priority classes have values. */
function validateExpression(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const operatorAt = at.child('operator');
  if (countable.has(scopeName) && scopeName !== 'PriorityClass' && operator !== 'Exists') {
    errors.push(
      fieldError.invalid(
        operatorAt,
        operator,
        "must be 'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort",
      ),
    );
  }
  const valuesAt = at.child('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        errors.push(
          fieldError.required(
            valuesAt,
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
          ),
        );
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        errors.push(
          fieldError.invalid(
            valuesAt,
            values,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
          ),
        );
      }
      break;
    default:
      errors.push(fieldError.invalid(operatorAt, operator, 'not a valid selector operator'));
  }
  return errors;
}

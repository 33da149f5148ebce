/** Validates quotas: known resource names, and scopes that fit the resources and each other. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import {
  isStandardQuotaName,
  validateAmount,
  validateQuotaResourceName,
} from './resource-rules.js';

export function validateQuotaAmounts(
  amounts: Readonly<Record<string, string>> | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return Object.entries(amounts ?? {}).flatMap(([name, amount]) => [
    ...validateQuotaResourceName(name, fieldPath.key(name)),
    ...validateAmount(name, amount, fieldPath.key(name)),
  ]);
}

export function validateQuotaSpec(spec: ResourceQuotaSpec, fieldPath: FieldPath): FieldError[] {
  return [
    ...validateQuotaAmounts(spec.hard, fieldPath.child('hard')),
    ...validateScopes(spec, fieldPath.child('scopes')),
    ...validateScopeSelector(spec, fieldPath.child('scopeSelector')),
  ];
}

const podNames = ['pods'];
const computeNames = [
  ...podNames,
  ...['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'],
];

const crossNamespaceAffinity = 'CrossNamespacePodAffinity';

/** Resources that a scope can count. */
const countable: ReadonlyMap<string, readonly string[]> = new Map([
  ['Terminating', computeNames],
  ['NotTerminating', computeNames],
  ['BestEffort', podNames],
  ['NotBestEffort', computeNames],
  ['PriorityClass', computeNames],
  [crossNamespaceAffinity, computeNames],
]);
const conflicts: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

/** The scope for affinity between namespaces belongs to a feature that is not supported. */
const isSupported = (scope: string) => countable.has(scope) && scope !== crossNamespaceAffinity;

const hasConflict = (scopes: readonly string[], pair: readonly string[]) =>
  pair.every((scope) => scopes.includes(scope));

/** Standard resources of the quota that the scope cannot count. */
function uncounted(spec: ResourceQuotaSpec, scope: string): readonly string[] {
  const names = countable.get(scope);
  return Object.keys(spec.hard ?? {}).filter(
    (name) => names && isStandardQuotaName(name) && !names.includes(name),
  );
}

function validateScopes(spec: ResourceQuotaSpec, fieldPath: FieldPath): FieldError[] {
  const scopes = spec.scopes ?? [];
  const refusal = (detail: string) => fieldError.invalid(fieldPath, scopes, detail);
  return [
    ...scopes.flatMap((scope) => [
      ...(isSupported(scope) ? [] : [refusal('unsupported scope')]),
      ...uncounted(spec, scope).map(() => refusal('unsupported scope applied to resource')),
    ]),
    ...conflicts
      .filter((pair) => hasConflict(scopes, pair))
      .map(() => refusal('conflicting scopes')),
  ];
}

/** Errors name the list of expressions. */
function validateScopeSelector(spec: ResourceQuotaSpec, fieldPath: FieldPath): FieldError[] {
  if (!spec.scopeSelector) return [];
  const field = fieldPath.child('matchExpressions');
  const expressions = spec.scopeSelector.matchExpressions ?? [];
  const scopes = expressions.map(({ scopeName }) => scopeName);
  return [
    ...expressions.flatMap((expression) => [
      ...(isSupported(expression.scopeName)
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

/** Only the priority class scope takes values. */
function validateExpression(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const operatorAt = fieldPath.child('operator');
  if (countable.has(scopeName) && scopeName !== 'PriorityClass' && operator !== 'Exists') {
    errors.push(
      fieldError.invalid(
        operatorAt,
        operator,
        "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    );
  }
  const valuesAt = fieldPath.child('values');
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

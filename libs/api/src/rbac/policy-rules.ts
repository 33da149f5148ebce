/** Validates policy rules, and lists the versions of the group's kinds. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import type { ApiObject, ServedVersion } from '../definition.js';
import { replacedBy } from '../shared/versions.js';

export const rbacGroup = 'rbac.authorization';

/** All versions of a kind; `changes` are the differences of a version. */
export function rbacVersions<T extends ApiObject>(
  kind: string,
  changes: Readonly<Record<string, Partial<ServedVersion<T>>>> = {},
): readonly ServedVersion<T>[] {
  const deprecation = replacedBy(rbacGroup, 'v1', kind, { since: '1.17', unavailableFrom: '1.22' });
  return [
    { group: rbacGroup, version: 'v1', ...changes.v1 },
    { group: rbacGroup, version: 'v1beta1', deprecation, ...changes.v1beta1 },
    { group: rbacGroup, version: 'v1alpha1', ...changes.v1alpha1 },
  ];
}

/** Only cluster roles may have rules for non-resource URLs. */
export function validatePolicyRules(
  rules: readonly PolicyRule[] | undefined,
  namespaced: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  return (rules ?? []).flatMap((rule, index) =>
    validatePolicyRule(rule, namespaced, fieldPath.index(index)),
  );
}

function validatePolicyRule(
  rule: PolicyRule,
  namespaced: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const isEmpty = (field: 'verbs' | 'apiGroups' | 'resources' | 'resourceNames') =>
    (rule[field]?.length ?? 0) === 0;
  if (isEmpty('verbs')) {
    errors.push(
      fieldError.required(fieldPath.child('verbs'), 'verbs must contain at least one value'),
    );
  }
  const urls = rule.nonResourceURLs ?? [];
  if (urls.length > 0) {
    const refuse = (detail: string) =>
      errors.push(fieldError.invalid(fieldPath.child('nonResourceURLs'), urls, detail));
    if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (!isEmpty('apiGroups') || !isEmpty('resources') || !isEmpty('resourceNames')) {
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (isEmpty('apiGroups')) {
    errors.push(
      fieldError.required(
        fieldPath.child('apiGroups'),
        'resource rules must supply at least one api group',
      ),
    );
  }
  if (isEmpty('resources')) {
    errors.push(
      fieldError.required(
        fieldPath.child('resources'),
        'resource rules must supply at least one resource',
      ),
    );
  }
  return errors;
}

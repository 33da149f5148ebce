/** Rules of the rules that roles are made of, and the versions in which the kinds of the group are served. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import type { ApiObject, ServedVersion } from '../definition.js';
import { replacedBy } from '../shared/versions.js';

export const rbacGroup = 'rbac.authorization';

/** All versions of a kind; `changes` are what a version has of its own. */
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

/** Addresses that are no resources are for roles of the whole cluster. */
export function validatePolicyRules(
  rules: readonly PolicyRule[] | undefined,
  namespaced: boolean,
  at: FieldPath,
): FieldError[] {
  return (rules ?? []).flatMap((rule, index) =>
    validatePolicyRule(rule, namespaced, at.index(index)),
  );
}

function validatePolicyRule(rule: PolicyRule, namespaced: boolean, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const isEmpty = (field: 'verbs' | 'apiGroups' | 'resources' | 'resourceNames') =>
    (rule[field]?.length ?? 0) === 0;
  if (isEmpty('verbs')) {
    errors.push(fieldError.required(at.child('verbs'), 'verbs must contain at least one value'));
  }
  const urls = rule.nonResourceURLs ?? [];
  if (urls.length > 0) {
    const refuse = (detail: string) =>
      errors.push(fieldError.invalid(at.child('nonResourceURLs'), urls, detail));
    if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (!isEmpty('apiGroups') || !isEmpty('resources') || !isEmpty('resourceNames')) {
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (isEmpty('apiGroups')) {
    errors.push(
      fieldError.required(
        at.child('apiGroups'),
        'resource rules must supply at least one api group',
      ),
    );
  }
  if (isEmpty('resources')) {
    errors.push(
      fieldError.required(
        at.child('resources'),
        'resource rules must supply at least one resource',
      ),
    );
  }
  return errors;
}

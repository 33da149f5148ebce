/**
 * Plans of `auth reconcile`: the role or binding that results from the stored and the desired
 * object, by the rules of a server start, and the permissions or subjects that change.
 */
import {
  isAutoUpdated,
  isRoleRefChanged,
  missingRules,
  reconcileBinding,
  reconcileRole,
} from '@orch/api';
import { semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from '@orch/types/rbac.authorization/v1';

export type AnyRole = ClusterRole | Role;
export type AnyBinding = ClusterRoleBinding | RoleBinding;

export interface ReconcilePlan<T> {
  /** `recreate`: the role of a binding cannot be changed. */
  readonly operation: 'none' | 'create' | 'update' | 'recreate';
  readonly object: T;
  /** The stored object opted out of changes. */
  readonly isProtected: boolean;
  /** The content of the two lists. */
  readonly entryKind: 'rules' | 'subjects';
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function planRole(
  existing: AnyRole | undefined,
  desired: AnyRole,
  removeExtra: boolean,
): ReconcilePlan<AnyRole> {
  const rules = desired.rules ?? [];
  const held = existing?.rules ?? [];
  const missing = missingRules(held, rules);
  const entries = { entryKind: 'rules', added: missing.map(ruleText) } as const;
  if (!existing) return { ...entries, ...creationOf(desired) };
  const object: ClusterRole = structuredClone(existing);
  reconcileRole(object, desired);
  dropEmptyMaps(object);
  const { aggregationRule }: ClusterRole = desired;
  // A controller writes the rules of an aggregated role.
  const extra = removeExtra && !aggregationRule ? missingRules(rules, held) : [];
  if (extra.length > 0) object.rules = rules;
  if (removeExtra && aggregationRule) object.aggregationRule = aggregationRule;
  return {
    ...entries,
    operation: semanticallyEqual(object, existing) ? 'none' : 'update',
    object,
    isProtected: !isAutoUpdated(existing),
    removed: extra.map(ruleText),
  };
}

export function planBinding(
  existing: AnyBinding | undefined,
  given: AnyBinding,
  removeExtra: boolean,
): ReconcilePlan<AnyBinding> {
  const desired = withGroups(given);
  const subjects = desired.subjects ?? [];
  const held = existing?.subjects ?? [];
  const added = isRecreated(existing, desired) ? [] : withoutSubjects(subjects, held);
  const entries = { entryKind: 'subjects', added: added.map(subjectText) } as const;
  if (!existing) return { ...entries, ...creationOf(desired) };
  const isProtected = !isAutoUpdated(existing);
  if (isRecreated(existing, desired)) {
    return { ...entries, operation: 'recreate', object: desired, isProtected, removed: [] };
  }
  const object = structuredClone(existing);
  reconcileBinding(object, desired);
  dropEmptyMaps(object);
  const extra = removeExtra ? withoutSubjects(held, subjects) : [];
  if (extra.length > 0) object.subjects = subjects;
  return {
    ...entries,
    operation: semanticallyEqual(object, existing) ? 'none' : 'update',
    object,
    isProtected,
    removed: extra.map(subjectText),
  };
}

function isRecreated(existing: AnyBinding | undefined, desired: AnyBinding): boolean {
  return existing !== undefined && isRoleRefChanged(existing, desired);
}

function creationOf<T>(object: T) {
  return { operation: 'create', object, isProtected: false, removed: [] } as const;
}

/** Reconciliation adds empty labels and annotations, which are no change. */
function dropEmptyMaps({ metadata }: AnyRole | AnyBinding): void {
  for (const field of ['labels', 'annotations'] as const) {
    if (metadata && Object.keys(metadata[field] ?? {}).length === 0) delete metadata[field];
  }
}

/** The binding with the groups that the server adds, so that it compares with a stored one. */
function withGroups(binding: AnyBinding): AnyBinding {
  const apiGroup = dialect().group('rbac.authorization');
  return {
    ...binding,
    roleRef: { ...binding.roleRef, apiGroup: binding.roleRef.apiGroup || apiGroup },
    subjects: (binding.subjects ?? []).map((subject) =>
      subject.kind === 'ServiceAccount' || subject.apiGroup ? subject : { ...subject, apiGroup },
    ),
  };
}

/** The subjects that are not among `others`. */
function withoutSubjects(subjects: readonly Subject[], others: readonly Subject[]): Subject[] {
  const roleRef = { apiGroup: '', kind: '', name: '' };
  const merged: ClusterRoleBinding = { roleRef, subjects: [...others] };
  reconcileBinding(merged, { roleRef, subjects: [...subjects] });
  return (merged.subjects ?? []).slice(others.length);
}

function ruleText(rule: PolicyRule): string {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const list = (entries: readonly string[] = []) => `[${entries.join(' ')}]`;
  return `{Verbs:${list(verbs)} APIGroups:${list(apiGroups)} Resources:${list(resources)} ResourceNames:${list(resourceNames)} NonResourceURLs:${list(nonResourceURLs)}}`;
}

function subjectText({ kind, apiGroup = '', name, namespace = '' }: Subject): string {
  return `{Kind:${kind} APIGroup:${apiGroup} Name:${name} Namespace:${namespace}}`;
}

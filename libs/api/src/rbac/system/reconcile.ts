/**
 * Reconciles a stored role or binding with the initial one at server start: adds missing parts,
 * keeps additions of operators, and skips objects that opted out.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  Subject,
} from '@orch/types/rbac.authorization/v1';
import { missingRules } from './covers.js';
import { rbacAutoUpdateAnnotation } from './objects.js';

type AnyRole = ClusterRole | Role;
type AnyBinding = ClusterRoleBinding | RoleBinding;

/** Reports whether the server may update the object. */
export function isAutoUpdated({ metadata }: AnyRole | AnyBinding): boolean {
  return metadata?.annotations?.[rbacAutoUpdateAnnotation()] !== 'false';
}

/** Mutates `role`, a copy of the stored object. */
export function reconcileRole(role: AnyRole, desired: AnyRole): void {
  addMetadata(role.metadata, desired.metadata);
  const missing = missingRules(role.rules ?? [], desired.rules ?? []);
  if (missing.length > 0) role.rules = [...(role.rules ?? []), ...missing];
  reconcileAggregation(role, desired);
}

/** A role with rules of its own must not aggregate others. */
function reconcileAggregation(role: ClusterRole, { aggregationRule }: ClusterRole): void {
  if (!aggregationRule) {
    delete role.aggregationRule;
    return;
  }
  const held = role.aggregationRule?.clusterRoleSelectors ?? [];
  const missing = (aggregationRule.clusterRoleSelectors ?? []).filter(
    (selector) => !held.some((existing) => semanticallyEqual(existing, selector)),
  );
  role.aggregationRule = { clusterRoleSelectors: [...held, ...missing] };
}

/**
 * Mutates `binding`, a copy of the stored object. Its role is immutable: see `isRoleRefChanged`.
 */
export function reconcileBinding(
  binding: AnyBinding,
  { metadata, subjects = [] }: AnyBinding,
): void {
  addMetadata(binding.metadata, metadata);
  const held = binding.subjects ?? [];
  const missing = subjects.filter((subject) => !held.some((existing) => isSame(existing, subject)));
  if (missing.length > 0) binding.subjects = [...held, ...missing];
}

/** Reports whether the role differs; such a binding must be created again. */
export function isRoleRefChanged(binding: AnyBinding, desired: AnyBinding): boolean {
  return !semanticallyEqual(binding.roleRef, desired.roleRef);
}

function isSame(left: Subject, right: Subject): boolean {
  return (
    left.kind === right.kind &&
    left.name === right.name &&
    (left.namespace ?? '') === (right.namespace ?? '') &&
    (left.apiGroup ?? '') === (right.apiGroup ?? '')
  );
}

/** Existing values of labels and annotations stay. */
function addMetadata(metadata: ObjectMeta | undefined, desired: ObjectMeta | undefined): void {
  if (!metadata) return;
  metadata.labels = { ...desired?.labels, ...metadata.labels };
  metadata.annotations = { ...desired?.annotations, ...metadata.annotations };
}

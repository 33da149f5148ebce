/**
 * Brings a stored role or binding to where a start of the server wants it: what is missing is added, what
 * operators have added stays, and what they have marked as their own is left alone.
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

/** May the server change it? */
export function isReconciled({ metadata }: AnyRole | AnyBinding): boolean {
  return metadata?.annotations?.[rbacAutoUpdateAnnotation()] !== 'false';
}

/** Changes `role`, a copy of what is stored. */
export function reconcileRole(role: AnyRole, wanted: AnyRole): void {
  addMetadata(role.metadata, wanted.metadata);
  const missing = missingRules(role.rules ?? [], wanted.rules ?? []);
  if (missing.length > 0) role.rules = [...(role.rules ?? []), ...missing];
  reconcileAggregation(role, wanted);
}

/** A role that is to have rules of its own aggregates no others. */
function reconcileAggregation(role: ClusterRole, { aggregationRule }: ClusterRole): void {
  if (!aggregationRule) {
    delete role.aggregationRule;
    return;
  }
  const held = role.aggregationRule?.clusterRoleSelectors ?? [];
  const missing = (aggregationRule.clusterRoleSelectors ?? []).filter(
    (selector) => !held.some((one) => semanticallyEqual(one, selector)),
  );
  role.aggregationRule = { clusterRoleSelectors: [...held, ...missing] };
}

/** Changes `binding`, a copy of what is stored. Its role cannot be changed: see `bindsOther`. */
export function reconcileBinding(
  binding: AnyBinding,
  { metadata, subjects = [] }: AnyBinding,
): void {
  addMetadata(binding.metadata, metadata);
  const held = binding.subjects ?? [];
  const missing = subjects.filter((subject) => !held.some((one) => isSame(one, subject)));
  if (missing.length > 0) binding.subjects = [...held, ...missing];
}

/** Does it give another role? Then it has to be made anew. */
export function bindsOther(binding: AnyBinding, wanted: AnyBinding): boolean {
  return !semanticallyEqual(binding.roleRef, wanted.roleRef);
}

function isSame(left: Subject, right: Subject): boolean {
  return (
    left.kind === right.kind &&
    left.name === right.name &&
    (left.namespace ?? '') === (right.namespace ?? '') &&
    (left.apiGroup ?? '') === (right.apiGroup ?? '')
  );
}

/** Labels and annotations that somebody has given another value keep it. */
function addMetadata(metadata: ObjectMeta | undefined, wanted: ObjectMeta | undefined): void {
  if (!metadata) return;
  metadata.labels = { ...wanted?.labels, ...metadata.labels };
  metadata.annotations = { ...wanted?.annotations, ...metadata.annotations };
}

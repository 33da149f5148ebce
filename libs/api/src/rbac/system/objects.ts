/** Shared parts of the initial roles and bindings. */
import { dialect } from '@orch/component';
import type { ClusterRoleBinding, Subject } from '@orch/types/rbac.authorization/v1';
import { rbacGroup } from '../policy-rules.js';

const group = () => dialect().group(rbacGroup);

/** `"false"`: an operator maintains the object, and the server does not change it. */
export const rbacAutoUpdateAnnotation = () => dialect().key('autoupdate', rbacGroup);

/** Label of a role whose rules are aggregated to `admin`, `edit` or `view`. */
export const aggregationLabel = (name: string) => `${group()}/aggregate-to-${name}`;

export function objectOf(
  kind: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  namespace?: string,
) {
  return {
    apiVersion: dialect().apiVersion(rbacGroup, 'v1'),
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels: { [dialect().key('bootstrapping')]: 'rbac-defaults', ...labels },
      annotations: { [rbacAutoUpdateAnnotation()]: 'true' },
    },
  };
}

export function bindingOf(
  roleKind: 'Role' | 'ClusterRole',
  role: string,
  subjects: Subject[],
  { name = role, namespace }: { name?: string; namespace?: string } = {},
): ClusterRoleBinding {
  return {
    ...objectOf(`${roleKind}Binding`, name, {}, namespace),
    roleRef: { apiGroup: group(), kind: roleKind, name: role },
    ...(subjects.length > 0 && { subjects }),
  };
}

export const user = (name: string): Subject => ({ kind: 'User', apiGroup: group(), name });
export const groupOf = (name: string): Subject => ({ kind: 'Group', apiGroup: group(), name });
/** A service account of the system namespace. */
export const account = (name: string): Subject => ({
  kind: 'ServiceAccount',
  name,
  namespace: dialect().systemNamespace,
});

/** What all roles and bindings that a cluster begins with have in common. */
import { dialect } from '@orch/component';
import type { ClusterRoleBinding, Subject } from '@orch/types/rbac.authorization/v1';
import { rbacGroup } from '../policy-rules.js';

const group = () => dialect().group(rbacGroup);

/** `"false"` on an object: an operator keeps it, and the server leaves it alone. */
export const rbacAutoUpdateAnnotation = () => dialect().key('autoupdate', rbacGroup);

/** Of a role whose rules belong to `admin`, `edit` or `view`. */
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
/** A service account of the system. */
export const account = (name: string): Subject => ({
  kind: 'ServiceAccount',
  name,
  namespace: dialect().systemNamespace,
});

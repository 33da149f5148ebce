/** ClusterRoleBinding: grants a cluster role to subjects in all namespaces. */
import { pathSegmentName } from '@orch/apimachinery';
import type { ClusterRoleBinding } from '@orch/types/rbac.authorization/v1';
import { define } from '../definition.js';
import {
  bindingColumns,
  bindingVersions,
  validateBinding,
  validateRoleRefUpdate,
} from './bindings.js';
import { rbacGroup } from './policy-rules.js';

const validate = (object: ClusterRoleBinding) => validateBinding(object, ['ClusterRole'], false);

export const clusterRoleBinding = define<ClusterRoleBinding>({
  plural: 'clusterrolebindings',
  singular: '',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  versions: bindingVersions<ClusterRoleBinding>('ClusterRoleBinding'),
  stored: { group: rbacGroup, version: 'v1' },
  validateName: pathSegmentName,
  validate,
  validateUpdate: validateRoleRefUpdate,
  updateChecks: ['metadata', 'object', 'metadata', 'object', 'metadataUpdate', 'update'],
  createOnUpdate: true,
  columns: bindingColumns(),
});

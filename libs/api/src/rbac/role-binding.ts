/** RoleBinding: grants a role to subjects in its namespace. */
import { pathSegmentName } from '@orch/apimachinery';
import type { RoleBinding } from '@orch/types/rbac.authorization/v1';
import { define } from '../definition.js';
import {
  bindingColumns,
  bindingVersions,
  validateBinding,
  validateRoleRefUpdate,
} from './bindings.js';
import { rbacGroup } from './policy-rules.js';

const validate = (object: RoleBinding) => validateBinding(object, ['Role', 'ClusterRole'], true);

export const roleBinding = define<RoleBinding>({
  plural: 'rolebindings',
  singular: '',
  kind: 'RoleBinding',
  namespaced: true,
  versions: bindingVersions<RoleBinding>('RoleBinding'),
  stored: { group: rbacGroup, version: 'v1' },
  validateName: pathSegmentName,
  validate,
  validateUpdate: validateRoleRefUpdate,
  updateChecks: ['metadata', 'object', 'metadata', 'object', 'metadataUpdate', 'update'],
  createOnUpdate: true,
  columns: bindingColumns(),
});

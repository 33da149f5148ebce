/** Role: permissions in its namespace. */
import { path, pathSegmentName } from '@orch/apimachinery';
import type { Role } from '@orch/types/rbac.authorization/v1';
import { define } from '../definition.js';
import { createdAtColumn, nameColumn } from '../shared/columns.js';
import { dropEmptyLists } from '../shared/empty-lists.js';
import { rbacGroup, rbacVersions, validatePolicyRules } from './policy-rules.js';

const validateRole = (object: Role) => validatePolicyRules(object.rules, true, path('rules'));

export const role = define<Role>({
  plural: 'roles',
  singular: '',
  kind: 'Role',
  namespaced: true,
  versions: rbacVersions<Role>('Role'),
  stored: { group: rbacGroup, version: 'v1' },
  validateName: pathSegmentName,
  prepareForCreate: (object) => dropEmptyLists(object, 'rules'),
  prepareForUpdate: (object) => dropEmptyLists(object, 'rules'),
  validate: validateRole,
  updateChecks: ['metadata', 'object', 'metadata', 'object', 'metadataUpdate'],
  createOnUpdate: true,
  columns: [nameColumn(), createdAtColumn()],
});

/** ClusterRole: cluster-wide permissions; may aggregate other cluster roles by label. */
import {
  type FieldError,
  fieldError,
  labelSelectorFromObject,
  path,
  pathSegmentName,
  SelectorError,
  validateLabelSelector,
} from '@orch/apimachinery';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { ClusterRole } from '@orch/types/rbac.authorization/v1';
import { define } from '../definition.js';
import { createdAtColumn, nameColumn } from '../shared/columns.js';
import { dropEmptyLists } from '../shared/empty-lists.js';
import { rbacGroup, rbacVersions, validatePolicyRules } from './policy-rules.js';

function validateClusterRole(object: ClusterRole): FieldError[] {
  const errors = validatePolicyRules(object.rules, false, path('rules'));
  if (!object.aggregationRule) return errors;
  const fieldPath = path('aggregationRule', 'clusterRoleSelectors');
  const selectors = object.aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    errors.push(
      fieldError.required(
        fieldPath,
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      ),
    );
  }
  for (const [index, selector] of selectors.entries()) {
    errors.push(...validateLabelSelector(selector, fieldPath.index(index)));
    if (!isReadable(selector)) {
      // Upstream reports the selector that it could not read: none.
      errors.push(fieldError.invalid(fieldPath.index(index), null, 'invalid label selector.'));
    }
  }
  return errors;
}

function isReadable(selector: LabelSelector): boolean {
  try {
    labelSelectorFromObject(selector);
    return true;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

export const clusterRole = define<ClusterRole>({
  plural: 'clusterroles',
  singular: '',
  kind: 'ClusterRole',
  namespaced: false,
  versions: rbacVersions<ClusterRole>('ClusterRole'),
  stored: { group: rbacGroup, version: 'v1' },
  validateName: pathSegmentName,
  prepareForCreate: (object) => dropEmptyLists(object, 'rules'),
  prepareForUpdate: (object) => dropEmptyLists(object, 'rules'),
  validate: validateClusterRole,
  updateChecks: ['metadata', 'object', 'metadata', 'object', 'metadataUpdate'],
  createOnUpdate: true,
  columns: [nameColumn(), createdAtColumn()],
});

/** ClusterRole: what may be done anywhere; it may be put together from others by their labels. */
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
  const at = path('aggregationRule', 'clusterRoleSelectors');
  const selectors = object.aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    errors.push(
      fieldError.required(
        at,
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      ),
    );
  }
  for (const [index, selector] of selectors.entries()) {
    errors.push(...validateLabelSelector(selector, at.index(index)));
    const problem = selectorProblem(selector);
    if (problem !== undefined) errors.push(fieldError.invalid(at.index(index), selector, problem));
  }
  return errors;
}

/** Why the selector cannot be read. */
function selectorProblem(selector: LabelSelector): string | undefined {
  try {
    labelSelectorFromObject(selector);
    return undefined;
  } catch (error) {
    if (error instanceof SelectorError) return error.message;
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
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate: validateClusterRole,
  createOnUpdate: true,
  columns: [nameColumn(), createdAtColumn()],
});

/** LocalSubjectAccessReview: checks whether a user may perform an action in this namespace. */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type { LocalSubjectAccessReview } from '@orch/types/authorization/v1';
import { define } from '../definition.js';
import {
  groupsFromStored,
  groupsToStored,
  reviewOf,
  validateNoMetadata,
  validateQuestion,
  validateSubject,
} from './access-reviews.js';

function validateNamespace({ spec, metadata = {} }: LocalSubjectAccessReview): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const errors: FieldError[] = [];
  const namespace = resourceAttributes?.namespace ?? '';
  if (resourceAttributes && namespace !== (metadata.namespace ?? '')) {
    errors.push(
      fieldError.invalid(
        path('spec', 'resourceAttributes', 'namespace'),
        namespace,
        'must match metadata.namespace',
      ),
    );
  }
  if (nonResourceAttributes) {
    errors.push(
      fieldError.invalid(
        path('spec', 'nonResourceAttributes'),
        nonResourceAttributes,
        'disallowed on this kind of request',
      ),
    );
  }
  return errors;
}

export const localSubjectAccessReview = define<LocalSubjectAccessReview>({
  ...reviewOf('LocalSubjectAccessReview', {
    toStored: groupsToStored,
    fromStored: groupsFromStored,
  }),
  namespaced: true,
  validate: (object) => [
    ...validateQuestion(object.spec),
    ...validateSubject(object.spec),
    ...validateNoMetadata(
      object.metadata ?? {},
      ['namespace'],
      'must be empty except for namespace',
    ),
    ...validateNamespace(object),
  ],
});

/** SelfSubjectAccessReview: checks whether the requester may perform an action. */
import type { SelfSubjectAccessReview } from '@orch/types/authorization/v1';
import { define } from '../definition.js';
import { reviewOf, validateNoMetadata, validateQuestion } from './access-reviews.js';

export const selfSubjectAccessReview = define<SelfSubjectAccessReview>({
  ...reviewOf('SelfSubjectAccessReview'),
  namespaced: false,
  validate: ({ spec, metadata = {} }) => [
    ...validateQuestion(spec),
    ...validateNoMetadata(metadata, [], 'must be empty'),
  ],
});

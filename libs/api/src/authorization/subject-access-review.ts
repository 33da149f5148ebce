/** SubjectAccessReview: checks whether a user may perform an action. */
import type { SubjectAccessReview } from '@orch/types/authorization/v1';
import { define } from '../definition.js';
import {
  groupsFromStored,
  groupsToStored,
  reviewOf,
  validateNoMetadata,
  validateQuestion,
  validateSubject,
} from './access-reviews.js';

export const subjectAccessReview = define<SubjectAccessReview>({
  ...reviewOf('SubjectAccessReview', { toStored: groupsToStored, fromStored: groupsFromStored }),
  namespaced: false,
  validate: ({ spec, metadata = {} }) => [
    ...validateQuestion(spec),
    ...validateSubject(spec),
    ...validateNoMetadata(metadata, [], 'must be empty'),
  ],
});

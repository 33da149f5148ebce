/** SelfSubjectRulesReview: lists the actions that the requester may perform in a namespace. */
import type { SelfSubjectRulesReview } from '@orch/types/authorization/v1';
import { define } from '../definition.js';
import { reviewOf } from './access-reviews.js';

export const selfSubjectRulesReview = define<SelfSubjectRulesReview>({
  ...reviewOf('SelfSubjectRulesReview'),
  namespaced: false,
});

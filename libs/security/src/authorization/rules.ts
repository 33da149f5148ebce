/** The rules that apply to a user in a namespace, for self subject rules reviews. */
import type { NonResourceRule, ResourceRule } from '@orch/types/authorization/v1';
import type { User } from '../authentication/user.js';

export interface Rules {
  readonly resourceRules: ResourceRule[];
  readonly nonResourceRules: NonResourceRule[];
  /** Whether more rules may apply. */
  readonly incomplete: boolean;
  /** Why rules are missing; absent if none are. */
  readonly evaluationError?: string;
}

export type RuleLister = (user: User, namespace: string) => Promise<Rules>;

export const noRules: RuleLister = async () => ({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: false,
});

/** The rules of all listers in one list, and the errors of all. */
export function unionOfRules(listers: readonly RuleLister[]): RuleLister {
  return async (user, namespace) => {
    const all = await Promise.all(listers.map((list) => list(user, namespace)));
    const errors = all.flatMap(({ evaluationError }) => evaluationError ?? []);
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      ...(errors.length > 0 && { evaluationError: errors.join(', ') }),
    };
  };
}

/** The policies of a file, indexed by the user or group that they name. */
import type { User } from '../../authentication/user.js';
import type { AbacPolicy } from './abac-policy.js';

export class AbacPolicies {
  private readonly byUser = new Map<string, AbacPolicy[]>();
  private readonly byGroup = new Map<string, AbacPolicy[]>();

  constructor(private readonly policies: readonly AbacPolicy[]) {
    for (const policy of policies) {
      const { user, group } = policy;
      const namesUser = user !== '' && user !== '*';
      const index = namesUser ? this.byUser : this.byGroup;
      const key = namesUser ? user : group;
      const indexed = index.get(key);
      if (indexed) indexed.push(policy);
      else index.set(key, [policy]);
    }
  }

  /** Whether `test` accepts a policy that applies to the user. */
  some(user: User, test: (policy: AbacPolicy) => boolean): boolean {
    const fits = (policy: AbacPolicy) => appliesTo(policy, user) && test(policy);
    if (this.byUser.get(user.name)?.some(fits)) return true;
    return user.groups.some((group) => this.byGroup.get(group)?.some(fits) ?? false);
  }

  /** The policies that apply to the user, in the order of the file. */
  of(user: User): AbacPolicy[] {
    return this.policies.filter((policy) => appliesTo(policy, user));
  }
}

/** A policy that names neither a user nor a group applies to no request. */
function appliesTo({ user, group }: AbacPolicy, { name, groups }: User): boolean {
  if (user === '' && group === '') return false;
  if (user !== '' && user !== '*' && user !== name) return false;
  return group === '' || groups.includes(group);
}

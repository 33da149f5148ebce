/**
 * Remembers the findings of one generation of a policy. They hang on the user that the
 * credentials of a connection or token prove, which is one object for all their requests.
 */
import type { User } from '../../authentication/user.js';
import { findingsKeyLengthMax, rememberedRulesMax } from '../../limits.js';
import type { Attributes, RequestAttributes } from '../attributes.js';
import type { Findings } from './findings.js';
import type { RbacPolicy } from './rbac-policy.js';

export class RememberedFindings {
  private users = new WeakMap<User, Map<string, Findings>>();
  private size = 0;
  private generation = 0;

  constructor(
    private readonly policy: Pick<RbacPolicy, 'generation'>,
    private readonly compute: (attributes: Attributes) => Findings,
  ) {}

  of(attributes: Attributes): Findings {
    const { user, info } = attributes;
    const isOutdated = this.generation !== this.policy.generation;
    if (isOutdated || this.size >= rememberedRulesMax) this.forget();
    let ofUser = this.users.get(user);
    if (!ofUser) {
      ofUser = new Map();
      this.users.set(user, ofUser);
    }
    const key = keyOf(info);
    const known = ofUser.get(key);
    if (known) return known;
    const findings = this.compute(attributes);
    if (key.length <= findingsKeyLengthMax) {
      ofUser.set(key, findings);
      this.size += findings.size;
    }
    return findings;
  }

  private forget(): void {
    this.users = new WeakMap();
    this.size = 0;
    this.generation = this.policy.generation;
  }
}

/** The lengths keep apart requests whose values contain separators. The name is no part of it. */
function keyOf({
  isResource,
  verb,
  path,
  group,
  namespace,
  resource,
  subresource,
}: RequestAttributes): string {
  return isResource
    ? `${verb.length},${group.length},${namespace.length},${resource.length} ${verb}${group}${namespace}${resource}${subresource}`
    : `${verb.length} ${verb}${path}`;
}

/** Allows what a rule of a role allows that is bound to the user. It never denies. */
import { quote, serviceUnavailable } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { User } from '../../authentication/user.js';
import type { Attributes } from '../attributes.js';
import { openPathReads } from '../authenticated-authorizer.js';
import { type Authorizer, type Decision, noOpinion } from '../authorizer.js';
import type { RuleLister } from '../rules.js';
import { ruleTarget } from './compiled-role.js';
import type { MissingRole, RbacPolicy } from './rbac-policy.js';
import type { RoleGrant } from './role-grants.js';

/** Throws 503 until the roles have been read; health can be read before. */
export function rbacAuthorizer(policy: RbacPolicy): Authorizer {
  return (attributes) => {
    if (policy.isSynced) return decide(policy, attributes);
    const health = openPathReads(attributes);
    if (health.verdict === 'allow') return health;
    throw serviceUnavailable('the roles have not been read yet', 1);
  };
}

function decide(policy: RbacPolicy, { user, info }: Attributes): Decision {
  const target = ruleTarget(info);
  let granted: RoleGrant | undefined;
  let missing: MissingRole[] | undefined;
  policy.visit(user, info.namespace, (grant) => {
    const role = policy.roleOf(grant);
    if (role === undefined) {
      missing ??= [];
      missing.push(grant.roleRef);
    } else if (role.allows(target)) granted = grant;
    return granted !== undefined;
  });
  if (granted) return firstSubject(policy, granted, user, info.namespace).allowed;
  // A denial has visited every grant.
  return missing === undefined
    ? noOpinion
    : { ...noOpinion, reason: `RBAC: ${missingRolesText(missing)}` };
}

/** The grant of the same binding to the first of its subjects that is the user. */
function firstSubject(
  policy: RbacPolicy,
  granted: RoleGrant,
  user: User,
  namespace: string,
): RoleGrant {
  let first = granted;
  if (granted.binding.subjects?.length === 1) return first;
  policy.visit(user, namespace, (grant) => {
    if (grant.binding === first.binding && grant.position < first.position) first = grant;
    return false;
  });
  return first;
}

/** Lists the rules of all roles of the user. */
export function rbacRules(policy: RbacPolicy): RuleLister {
  return async (user, namespace) => {
    const { rules, missing } = policy.heldRules(user, namespace);
    return {
      resourceRules: rules
        .filter(({ resources = [] }) => resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          ...(apiGroups && { apiGroups }),
          ...(resources && { resources }),
          ...(resourceNames && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({
          verbs,
          ...(nonResourceURLs && { nonResourceURLs }),
        })),
      incomplete: false,
      ...(missing.length > 0 && { evaluationError: missingRolesText(missing) }),
    };
  };
}

/** One error per role, in brackets if there are several. */
function missingRolesText(missing: readonly MissingRole[]): string {
  const group = dialect().group('rbac.authorization');
  const texts = new Set(
    missing.map(({ kind, name }) => `${kind.toLowerCase()}.${group} ${quote(name)} not found`),
  );
  return texts.size === 1 ? [...texts].join() : `[${[...texts].join(', ')}]`;
}

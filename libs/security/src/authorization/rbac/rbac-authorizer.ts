/** Allows what a rule of a role allows that is bound to the user. It never denies. */
import { serviceUnavailable } from '@orch/apimachinery';
import { openPathReads } from '../authenticated-authorizer.js';
import type { Authorizer } from '../authorizer.js';
import type { RuleLister } from '../rules.js';
import { findingsOf, missingRolesText } from './findings.js';
import type { RbacPolicy } from './rbac-policy.js';
import { RememberedFindings } from './remembered-findings.js';

/** Throws 503 until the roles have been read; health can be read before. */
export function rbacAuthorizer(policy: RbacPolicy): Authorizer {
  const remembered = new RememberedFindings(policy, (attributes) => findingsOf(policy, attributes));
  return (attributes) => {
    if (policy.isSynced) return remembered.of(attributes).decide(attributes.info);
    const health = openPathReads(attributes);
    if (health.verdict === 'allow') return health;
    throw serviceUnavailable('the roles have not been read yet', 1);
  };
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

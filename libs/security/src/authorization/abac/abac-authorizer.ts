/** Allows requests that a policy of the file allows. It never denies. */
import type { RequestAttributes } from '../attributes.js';
import { type Authorizer, allow, type Decision, noOpinion } from '../authorizer.js';
import type { RuleLister } from '../rules.js';
import type { AbacPolicies } from './abac-policies.js';
import type { AbacPolicy } from './abac-policy.js';

const all = '*';
const readVerbs = ['get', 'list', 'watch'];
const noMatch: Decision = { ...noOpinion, reason: 'No policy matched.' };

export function abacAuthorizer(policies: AbacPolicies): Authorizer {
  return ({ user, info }) =>
    policies.some(user, (policy) => allows(policy, info)) ? allow : noMatch;
}

function allows(policy: AbacPolicy, info: RequestAttributes): boolean {
  if (policy.isReadOnly && !readVerbs.includes(info.verb)) return false;
  return info.isResource
    ? matches(policy.namespace, info.namespace) &&
        matches(policy.resource, info.resource) &&
        matches(policy.apiGroup, info.group)
    : matchesPath(policy.nonResourcePath, info.path);
}

function matches(pattern: string, value: string): boolean {
  return pattern === all || pattern === value;
}

/** Stars at the end match the rest of the path; others are literal. Empty: no path matches. */
function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '') return false;
  if (pattern === path) return true;
  return pattern.endsWith(all) && path.startsWith(pattern.replace(/\*+$/, ''));
}

/** Lists a rule for each policy that applies to the user in the namespace. */
export function abacRules(policies: AbacPolicies): RuleLister {
  return async (user, namespace) => {
    const applying = policies.of(user).filter((policy) => matches(policy.namespace, namespace));
    const verbsOf = ({ isReadOnly }: AbacPolicy) => (isReadOnly ? [...readVerbs] : [all]);
    return {
      resourceRules: applying
        .filter(({ resource }) => resource !== '')
        .map((policy) => ({
          verbs: verbsOf(policy),
          apiGroups: [policy.apiGroup],
          resources: [policy.resource],
        })),
      nonResourceRules: applying
        .filter(({ nonResourcePath }) => nonResourcePath !== '')
        .map((policy) => ({
          verbs: verbsOf(policy),
          nonResourceURLs: [policy.nonResourcePath],
        })),
      incomplete: false,
    };
  };
}

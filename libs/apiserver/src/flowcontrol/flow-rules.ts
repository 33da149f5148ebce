/**
 * The compiled rules of a flow schema: its subjects, and the requests that it matches. As in the
 * interface, lists with `*` match everything, a resource with a subresource is
 * `resource/subresource`, and a path matches its subpaths as well, with or without `/*` at its end.
 */

import type { User } from '@orch/security';
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { RequestInfo } from '../http/request-info.js';

export interface FlowRule {
  readonly isOf: (user: User) => boolean;
  readonly matches: (info: RequestInfo) => boolean;
  /** The rule matches every request of its subjects. */
  readonly matchesAll: boolean;
}

type Test<T> = (value: T) => boolean;

const all = '*';
const accountPrefix = 'system:serviceaccount:';
const always = () => true;

export function flowRules({ spec }: FlowSchema): FlowRule[] {
  return (spec?.rules ?? []).map(flowRule);
}

function flowRule(rule: PolicyRulesWithSubjects): FlowRule {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  const users = subjects.map(isSubject);
  const resources = resourceRules.map(matchesResource);
  const paths = nonResourceRules.map(matchesPath);
  const matchesAll = resourceRules.some(isEveryResource) && nonResourceRules.some(isEveryPath);
  return {
    isOf: (user) => users.some((test) => test(user)),
    matches: matchesAll ? always : (info) => anyOf(info.isResource ? resources : paths, info),
    matchesAll,
  };
}

function anyOf<T>(tests: readonly Test<T>[], value: T): boolean {
  for (const test of tests) if (test(value)) return true;
  return false;
}

function isSubject({ kind, user, group, serviceAccount }: Subject): Test<User> {
  if (kind === 'User' && user) return ({ name }) => user.name === all || user.name === name;
  if (kind === 'Group' && group) {
    return ({ groups }) => group.name === all || groups.includes(group.name);
  }
  if (kind === 'ServiceAccount' && serviceAccount) return isAccount(serviceAccount);
  return () => false;
}

function isAccount({ namespace, name }: ServiceAccountSubject): Test<User> {
  const inNamespace = `${accountPrefix}${namespace}:`;
  if (name === all) return (user) => user.name.startsWith(inNamespace);
  return (user) => user.name === inNamespace + name;
}

/** Returns undefined for a list that contains `*`. */
function setOf(list: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return list?.includes(all) ? undefined : new Set(list);
}

function isEveryResource(rule: ResourcePolicyRule): boolean {
  const { verbs, apiGroups, resources, namespaces, clusterScope } = rule;
  const lists = [verbs, apiGroups, resources, namespaces];
  return clusterScope === true && lists.every((list) => list?.includes(all));
}

function matchesResource(rule: ResourcePolicyRule): Test<RequestInfo> {
  const verbs = setOf(rule.verbs);
  const groups = setOf(rule.apiGroups);
  const resources = setOf(rule.resources);
  const namespaces = setOf(rule.namespaces);
  const clusterScope = rule.clusterScope === true;
  return ({ verb, group, resource, subresource, namespace }) => {
    if (verbs && !verbs.has(verb)) return false;
    if (groups && !groups.has(group)) return false;
    const whole = subresource === '' ? resource : `${resource}/${subresource}`;
    if (resources && !resources.has(whole)) return false;
    if (namespace === '') return clusterScope;
    return !namespaces || namespaces.has(namespace);
  };
}

function isEveryPath({ verbs, nonResourceURLs }: NonResourcePolicyRule): boolean {
  return [verbs, nonResourceURLs].every((list) => list?.includes(all));
}

function matchesPath(rule: NonResourcePolicyRule): Test<RequestInfo> {
  const verbs = setOf(rule.verbs);
  const paths = setOf(rule.nonResourceURLs);
  const parents = [...(paths ?? [])].map((path) => {
    const parent = path.endsWith(all) ? path.slice(0, -1) : path;
    return parent.endsWith('/') ? parent : `${parent}/`;
  });
  return ({ verb, path }) => {
    if (verbs && !verbs.has(verb)) return false;
    return !paths || paths.has(path) || parents.some((parent) => path.startsWith(parent));
  };
}

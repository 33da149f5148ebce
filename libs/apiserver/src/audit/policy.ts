/**
 * The audit policy: which requests are recorded, at which level, and at which stages. The first
 * rule that matches applies; requests without a matching rule are not recorded.
 */

import type { User } from '@orch/security';
import type { Policy, PolicyRule } from '@orch/types/audit/v1';
import type { RequestInfo } from '../http/request-info.js';

export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

export const auditStages = [
  'RequestReceived',
  'ResponseStarted',
  'ResponseComplete',
  'Panic',
] as const;
export type AuditStage = (typeof auditStages)[number];

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<string>;
}

const unmatched: AuditDecision = { level: 'None', omitStages: new Set() };

export class AuditPolicy {
  private readonly rules: readonly {
    readonly rule: PolicyRule;
    readonly decision: AuditDecision;
  }[];

  /** `policy` must be valid. */
  constructor({ rules = [], omitStages = [] }: Policy) {
    this.rules = rules.map((rule) => ({
      rule,
      decision: {
        level: rule.level as AuditLevel,
        omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
      },
    }));
  }

  /** `user`: undefined for an unauthenticated request. */
  decide(info: RequestInfo, user: User | undefined): AuditDecision {
    return this.rules.find(({ rule }) => matches(rule, info, user))?.decision ?? unmatched;
  }
}

/** Empty and missing lists match everything. */
function matches(rule: PolicyRule, info: RequestInfo, user: User | undefined): boolean {
  const { users = [], userGroups = [], verbs = [], namespaces = [], resources = [] } = rule;
  if (users.length > 0 && !users.includes(user?.name ?? '')) return false;
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) {
    return false;
  }
  if (verbs.length > 0 && !verbs.includes(info.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return matchesResource(rule, info);
  const { nonResourceURLs = [] } = rule;
  if (nonResourceURLs.length === 0) return true;
  return !info.isResource && nonResourceURLs.some((pattern) => matchesPath(pattern, info.path));
}

function matchesResource(rule: PolicyRule, info: RequestInfo): boolean {
  const { namespaces = [], resources = [] } = rule;
  if (!info.isResource) return false;
  if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false;
  if (resources.length === 0) return true;
  return resources.some(({ group = '', resources: names = [], resourceNames = [] }) => {
    if (group !== info.group) return false;
    if (names.length === 0) return true;
    if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
    return names.some((name) => matchesName(name, info));
  });
}

/** `pods` matches no subresource, `pods/log` one, `pods/*` all of a resource, `*` everything. */
function matchesName(pattern: string, { resource, subresource }: RequestInfo): boolean {
  if (pattern === '*') return true;
  if (pattern === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (pattern.startsWith('*/')) return pattern.slice(2) === subresource;
  return pattern.endsWith('/*') && pattern.slice(0, -2) === resource;
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}

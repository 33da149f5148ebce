/** The rules of a new role, from the flags `--verb`, `--resource` and their kind. */
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import { CliError, UsageError } from '../command-line/errors.js';
import type { Catalog } from '../session/catalog.js';
import { isKnownVerb, isVirtualResource } from './known-names.js';

export interface RuleFlags {
  readonly verb?: readonly string[];
  /** `TYPE[.GROUP][/SUBRESOURCE]`. */
  readonly resource?: readonly string[];
  readonly resourceName?: readonly string[];
  readonly nonResourceUrl?: readonly string[];
}

interface PolicyRules {
  readonly rules: PolicyRule[];
  readonly warnings: readonly string[];
}

/** One rule per group, and one for paths. Throws `UsageError`, and `CliError` for unknown types. */
export async function policyRules(flags: RuleFlags, catalog: Catalog): Promise<PolicyRules> {
  const { resource: resources = [], resourceName: names = [], nonResourceUrl: urls = [] } = flags;
  const verbs = unique(flags.verb?.includes('*') ? ['*'] : (flags.verb ?? []));
  if (verbs.length === 0) throw new UsageError('at least one verb must be specified');
  const warnings = refuseUnknown(verbs, resources, urls);
  if (names.length > 0 && resources.length === 0) {
    throw new UsageError('--resource-name: give --resource too');
  }
  const byGroup = await resourcesByGroup(resources, catalog);
  const rules: PolicyRule[] = [...byGroup]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([group, members]) => ({
      verbs,
      apiGroups: [group],
      resources: unique(members),
      ...(names.length > 0 && { resourceNames: unique(names) }),
    }));
  if (urls.length > 0) rules.push({ verbs, nonResourceURLs: unique(urls) });
  return { rules, warnings };
}

function refuseUnknown(
  verbs: readonly string[],
  resources: readonly string[],
  urls: readonly string[],
): string[] {
  for (const url of urls) {
    if (!url.startsWith('/')) throw new UsageError('nonResourceURL should start with /');
    // The server refuses these; the message there does not name the flag.
    if (url.slice(0, -1).includes('*')) {
      throw new UsageError('nonResourceURL only supports wildcard matches when * is at the end');
    }
  }
  const badVerb = urls.length > 0 && verbs.find((verb) => !isKnownVerb(verb, true));
  if (badVerb) throw new UsageError(`invalid verb: '${badVerb}' for nonResourceURL`);
  if (resources.length === 0) return [];
  return verbs
    .filter((verb) => !isKnownVerb(verb, false))
    .map((verb) => `'${verb}' is not a standard resource verb`);
}

async function resourcesByGroup(
  resources: readonly string[],
  catalog: Catalog,
): Promise<Map<string, string[]>> {
  if (resources.includes('*')) return new Map([['', ['*']]]);
  const byGroup = new Map<string, string[]>();
  for (const text of resources) {
    const slash = text.indexOf('/');
    const typeName = slash < 0 ? text : text.slice(0, slash);
    if (typeName === '' || typeName.startsWith('.')) {
      throw new UsageError('resource must be specified if apiGroup/subresource specified');
    }
    const { resource, group } = await resourceOf(typeName, catalog);
    const subresource = slash < 0 ? '' : text.slice(slash);
    byGroup.set(group, [...(byGroup.get(group) ?? []), `${resource}${subresource}`]);
  }
  return byGroup;
}

async function resourceOf(
  typeName: string,
  catalog: Catalog,
): Promise<{ resource: string; group: string }> {
  const dot = typeName.indexOf('.');
  const resource = dot < 0 ? typeName : typeName.slice(0, dot);
  const group = dot < 0 ? '' : typeName.slice(dot + 1);
  if (resource === '*' || isVirtualResource(resource, group)) return { resource, group };
  try {
    const type = await catalog.type(typeName);
    return { resource: type.plural, group: type.groupName };
  } catch (error) {
    if (!(error instanceof CliError) || group === '') throw error;
    throw new CliError(`the server doesn't have a resource type "${resource}" in group "${group}"`);
  }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

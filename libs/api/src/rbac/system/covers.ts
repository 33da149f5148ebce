/** Computes which permissions a set of rules lacks, verb by verb and resource by resource. */
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';

const all = '*';

/** The parts of `wanted`, one verb on one target each, that no rule in `held` allows. */
export function missingRules(
  held: readonly PolicyRule[],
  required: readonly PolicyRule[],
): PolicyRule[] {
  return required.flatMap(partsOf).filter((part) => !held.some((rule) => allows(rule, part)));
}

interface Part extends PolicyRule {
  readonly verbs: [string];
}

function partsOf(rule: PolicyRule): Part[] {
  const { apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [] } = rule;
  const things: Omit<PolicyRule, 'verbs'>[] = apiGroups.flatMap((group) =>
    resources.flatMap((resource) => {
      const thing = { apiGroups: [group], resources: [resource] };
      return resourceNames.length === 0
        ? [thing]
        : resourceNames.map((name) => ({ ...thing, resourceNames: [name] }));
    }),
  );
  for (const url of nonResourceURLs) things.push({ nonResourceURLs: [url] });
  return things.flatMap((thing) =>
    (rule.verbs ?? []).map((verb): Part => ({ verbs: [verb], ...thing })),
  );
}

function allows(rule: PolicyRule, part: Part): boolean {
  if (!holds(rule.verbs, part.verbs[0])) return false;
  const url = part.nonResourceURLs?.[0];
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((held) => leadsTo(held, url));
  const names = rule.resourceNames ?? [];
  const name = part.resourceNames?.[0];
  return (
    holds(rule.apiGroups, part.apiGroups?.[0]) &&
    holdsResource(rule.resources, part.resources?.[0] ?? '') &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

function holds(held: readonly string[] | undefined, required: string | undefined): boolean {
  return held?.some((entry) => entry === all || entry === required) ?? false;
}

/** A subresource may be granted for all resources. */
function holdsResource(held: readonly string[] | undefined, required: string): boolean {
  const slash = required.indexOf('/');
  return (
    holds(held, required) || (slash >= 0 && (held?.includes(all + required.slice(slash)) ?? false))
  );
}

function leadsTo(held: string, url: string): boolean {
  return held === url || (held.endsWith(all) && url.startsWith(held.replace(/\*+$/, '')));
}

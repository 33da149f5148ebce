/** The rules of an aggregated cluster role: the rules of all selected roles, each once. */
import { labelSelectorFromObject, semanticallyEqual } from '@orch/apimachinery';
import type { ClusterRole, PolicyRule } from '@orch/types/rbac.authorization/v1';

/**
 * Orders the rules by selector, then by the name of the role. Throws SelectorError for an invalid
 * selector.
 */
export function aggregatedRules(
  { metadata, aggregationRule }: ClusterRole,
  roles: readonly ClusterRole[],
): PolicyRule[] {
  const others = roles.filter((role) => role.metadata?.name !== metadata?.name).sort(byName);
  const rules: PolicyRule[] = [];
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    const chosen = labelSelectorFromObject(selector);
    for (const role of others) {
      if (!chosen.matches(role.metadata?.labels ?? {})) continue;
      for (const rule of role.rules ?? []) {
        if (!rules.some((known) => semanticallyEqual(known, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}

function byName(left: ClusterRole, right: ClusterRole): number {
  return (left.metadata?.name ?? '') < (right.metadata?.name ?? '') ? -1 : 1;
}

/** Describes rules to the client: rules that differ only in their verbs share a line. */
import { quote } from '@orch/apimachinery';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';

/** A line per rule, sorted. */
export function describeRules(rules: readonly PolicyRule[]): string {
  const lines = new Set(mergeVerbs(rules).map(describe));
  return [...lines].sort().join('\n');
}

/** Rules of one resource, and at most one name, are merged. Verbs keep order and duplicates. */
function mergeVerbs(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged: PolicyRule[] = [];
  const byThing = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const thing = thingOf(rule);
    const before = thing === undefined ? undefined : byThing.get(thing);
    if (before) {
      before.verbs = [...(before.verbs ?? []), ...(rule.verbs ?? [])];
      continue;
    }
    const copy = { ...rule };
    merged.push(copy);
    if (thing !== undefined) byThing.set(thing, copy);
  }
  return merged;
}

/** Undefined: the rule is not merged with others. */
function thingOf(rule: PolicyRule): string | undefined {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const isSimple =
    apiGroups.length === 1 &&
    resources.length === 1 &&
    resourceNames.length <= 1 &&
    nonResourceURLs.length === 0;
  return isSimple ? JSON.stringify([apiGroups, resources, resourceNames]) : undefined;
}

const fields = [
  ['APIGroups', 'apiGroups'],
  ['Resources', 'resources'],
  ['NonResourceURLs', 'nonResourceURLs'],
  ['ResourceNames', 'resourceNames'],
  ['Verbs', 'verbs'],
] as const;

function describe(rule: PolicyRule): string {
  const parts = fields.flatMap(([label, field]) => {
    const values = rule[field] ?? [];
    return values.length === 0 ? [] : [`${label}:${quoted(values)}`];
  });
  return `{${parts.join(', ')}}`;
}

/** The list in brackets, its values quoted and separated by spaces. */
export function quoted(values: readonly string[]): string {
  return `[${values.map((value) => quote(value)).join(' ')}]`;
}

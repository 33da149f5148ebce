/** A short notation for the rules of system roles. */
import { dialect } from '@orch/component';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';

export const system = (name: string): string => dialect().systemName(name);

/** Lists are separated by spaces; `groups` are heads, such as `core`. */
export function rule(
  verbs: string,
  groups: string,
  resources: string,
  resourceNames?: string[],
): PolicyRule {
  return {
    verbs: verbs.split(' '),
    apiGroups: groups.split(' ').map((head) => dialect().group(head)),
    resources: resources.split(' '),
    ...(resourceNames && { resourceNames }),
  };
}

export function urls(verbs: string, nonResourceURLs: string): PolicyRule {
  return { verbs: verbs.split(' '), nonResourceURLs: nonResourceURLs.split(' ') };
}

export const eventWrites = (): PolicyRule => rule('create patch update', 'core events', 'events');

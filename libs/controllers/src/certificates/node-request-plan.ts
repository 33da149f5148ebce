/** The forms of certificate requests of node agents. Pure. */
import type { RequestedNames } from '@orch/component';

const nodesGroup = 'system:nodes';
const nodeUserPrefix = 'system:node:';
const clientUsages = ['client auth', 'digital signature', 'key encipherment'];
const servingUsages = ['digital signature', 'key encipherment', 'server auth'];

/** Why the request is not that of a node agent for a client certificate. */
export function nodeClientProblem(
  names: RequestedNames,
  usages: readonly string[],
): string | undefined {
  if (!hasOnlyNodesGroup(names)) return 'subject organization is not system:nodes';
  if (names.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (names.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return userProblem(names) ?? usageProblem(usages, clientUsages);
}

/** Why the request is not that of a node agent for a serving certificate. */
export function nodeServingProblem(
  names: RequestedNames,
  usages: readonly string[],
): string | undefined {
  if (!hasOnlyNodesGroup(names)) return 'subject organization is not system:nodes';
  if (names.dnsNames.length + names.ipAddresses.length === 0) {
    return 'DNS or IP subjectAltName is required';
  }
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usageProblem(usages, servingUsages) ?? userProblem(names);
}

function hasOnlyNodesGroup({ organizations }: RequestedNames): boolean {
  return organizations.length === 1 && organizations[0] === nodesGroup;
}

function userProblem({ commonName }: RequestedNames): string | undefined {
  if (commonName.startsWith(nodeUserPrefix)) return undefined;
  return `subject common name does not begin with ${nodeUserPrefix}`;
}

function usageProblem(usages: readonly string[], required: readonly string[]): string | undefined {
  const present = new Set(usages);
  const matches = present.size === required.length && required.every((usage) => present.has(usage));
  return matches ? undefined : `usages did not match [${required.join(' ')}]`;
}

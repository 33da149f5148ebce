/** Connections to node agents, and the pods and nodes that they are for. */
import type { ApiObject } from '@orch/api';
import { badRequest, internalError, notFound } from '@orch/apimachinery';
import { objectOf, type Registry } from '@orch/registry';
import type { Node, Pod } from '@orch/types/core/v1';
import type { RequestContext } from '../http/request-context.js';
import { dialFailed, type Target } from '../proxy/forward.js';

/** How to reach node agents. */
/** Reloaded credentials change: read the fields at each request. */
export interface NodeAgentTls {
  readonly certificatePem: string | undefined;
  readonly keyPem: string | undefined;
  /** Undefined: the agent's certificate is not checked. */
  readonly authorityPem: string | undefined;
  /** Types of node addresses, the preferred one first. */
  readonly addressTypes: readonly string[];
}

/** The present credentials, for a request to an agent whose certificate is not checked. */
export function withoutAuthority(tls: NodeAgentTls): NodeAgentTls {
  const { certificatePem, keyPem, addressTypes } = tls;
  return { certificatePem, keyPem, authorityPem: undefined, addressTypes };
}

export const defaultAgentPort = 10_250;

/** The object of the core group. Throws 404. */
export async function readCore<T extends ApiObject>(
  registry: Registry,
  { deadlineMs }: RequestContext,
  plural: string,
  namespace: string,
  name: string,
  kind: 'quorum' | 'any' = 'quorum',
): Promise<T> {
  const served = registry.table.inStoredVersion('core', plural);
  const key = { namespace, name };
  const entry = served && (await registry.store(served).get(key, { kind }, deadlineMs));
  if (!entry) throw notFound({ group: '', resource: plural }, name);
  return objectOf<T>(entry);
}

/** The pod that the path names. Throws 404. */
export function readPod(registry: Registry, context: RequestContext): Promise<Pod> {
  const { namespace, name } = context.info;
  return readCore<Pod>(registry, context, 'pods', namespace, name);
}

export function readNode(registry: Registry, context: RequestContext, name: string): Promise<Node> {
  return readCore<Node>(registry, context, 'nodes', '', name, 'any');
}

/** The requested container, or the only one. Throws 400. */
export function containerOf(pod: Pod, requested: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const podName = pod.metadata?.name ?? '';
  if (requested === '') {
    if (containers.length === 1) return containers[0]!.name ?? '';
    const initial =
      initContainers.length > 0 ? ` or one of the init containers: ${listed(initContainers)}` : '';
    throw badRequest(
      `a container name must be specified for pod ${podName}, choose one of: ${listed(containers)}${initial}`,
    );
  }
  const all = [...containers, ...initContainers, ...ephemeralContainers];
  if (!all.some(({ name }) => name === requested)) {
    throw badRequest(`container ${requested} is not valid for pod ${podName}`);
  }
  return requested;
}

function listed(containers: readonly { readonly name?: string }[]): string {
  return `[${containers.map(({ name }) => name).join(' ')}]`;
}

export function addressOf(node: Node, types: readonly string[]): string {
  const addresses = node.status?.addresses ?? [];
  for (const type of types) {
    const match = addresses.find((address) => address.type === type);
    if (match?.address) return match.address;
  }
  throw internalError(`no preferred addresses found for node ${node.metadata?.name}`);
}

export function agentPort(node: Node): number {
  return node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? defaultAgentPort;
}

/** The agent of the node as the target of a request for `path`. */
export function agentTarget(node: Node, path: string, tls: NodeAgentTls): Target {
  return {
    scheme: 'https',
    host: addressOf(node, tls.addressTypes),
    port: agentPort(node),
    path,
    tls: {
      ...(tls.certificatePem !== undefined && { cert: tls.certificatePem }),
      ...(tls.keyPem !== undefined && { key: tls.keyPem }),
      ...(tls.authorityPem !== undefined && { ca: tls.authorityPem, rejectUnauthorized: true }),
    },
    unreachable: dialFailed,
  };
}

/** `/head/a/b?query` with each name as one segment. */
export function agentPath(
  head: string,
  names: readonly string[],
  parameters: URLSearchParams,
): string {
  const text = parameters.toString();
  const path = `/${[head, ...names.map(encodeURIComponent)].join('/')}`;
  return text === '' ? path : `${path}?${text}`;
}

/** The way to the agents of nodes, and the pods and nodes that stand on it. */
import { badRequest, internalError, notFound } from '@orch/apimachinery';
import type { Node, Pod } from '@orch/types/core/v1';
import { dialFailed, type Target } from '../proxy/forward.js';
import { objectOf } from '../registry/entry-view.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import type { Call } from './call.js';

/** How to reach node agents. */
export interface NodeAgentTls {
  readonly certificatePem: string | undefined;
  readonly keyPem: string | undefined;
  /** Undefined: the agent's certificate is not checked. */
  readonly authorityPem: string | undefined;
  /** Kinds of node addresses, the most wanted first. */
  readonly addressTypes: readonly string[];
}

export const defaultAgentPort = 10_250;

/** The object of the core group. Throws 404. */
export async function readCore<T>(
  { parts, deadlineMs }: Call,
  plural: string,
  namespace: string,
  name: string,
  kind: 'quorum' | 'any' = 'quorum',
): Promise<T> {
  const resource = parts.table.stored('core', plural);
  const found = resource
    ? await parts.store.get(resource.key(namespace, name), {
        consistency: { kind },
        timeoutMs: timeLeftMs(parts, deadlineMs),
      })
    : undefined;
  if (!found?.entry) throw notFound({ group: '', resource: plural }, name);
  return objectOf(found.entry) as T;
}

/** The pod of the call. Throws 404. */
export function readPod(call: Call): Promise<Pod> {
  return readCore<Pod>(call, 'pods', call.info.namespace, call.info.name);
}

export function readNode(call: Call, name: string): Promise<Node> {
  return readCore<Node>(call, 'nodes', '', name, 'any');
}

/** The container asked for, or the only one. Throws 400. */
export function containerOf(pod: Pod, asked: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const podName = pod.metadata?.name ?? '';
  if (asked === '') {
    if (containers.length === 1) return containers[0]!.name ?? '';
    const initial =
      initContainers.length > 0 ? ` or one of the init containers: ${listed(initContainers)}` : '';
    throw badRequest(
      `a container name must be specified for pod ${podName}, choose one of: ${listed(containers)}${initial}`,
    );
  }
  const all = [...containers, ...initContainers, ...ephemeralContainers];
  if (!all.some(({ name }) => name === asked)) {
    throw badRequest(`container ${asked} is not valid for pod ${podName}`);
  }
  return asked;
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

/** The agent of a node at this path. */
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

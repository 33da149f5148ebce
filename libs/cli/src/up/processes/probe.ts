/** Probes a process of the cluster over HTTPS on loopback, with the authority of the cluster. */

import { request } from 'node:https';
import { errorMessage } from '@orch/component';
import { probeBytesMax, probeTimeoutMs } from '../cluster/limits.js';

export interface ProbeTarget {
  readonly port: number;
  readonly path: string;
  readonly authorityPem: string;
  readonly token?: string;
}

export interface ProbeAnswer {
  readonly statusCode: number;
  readonly body: string;
}

/** Sends a request. Resolves with a response of any status, rejects if there is none. */
export function probe(target: ProbeTarget): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: target.port,
        path: target.path,
        ca: target.authorityPem,
        agent: false,
        timeout: probeTimeoutMs,
        headers: {
          accept: 'application/json',
          ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
        },
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part;
          if (body.length > probeBytesMax)
            outgoing.destroy(new Error(`the response is larger than ${probeBytesMax} bytes`));
        });
        response.on('end', () => resolve({ statusCode: response.statusCode ?? 0, body }));
        response.on('error', reject);
      },
    );
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`no response in ${probeTimeoutMs} ms`)),
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Why the process is not healthy. Undefined if it is. */
export async function unhealthyReason(target: ProbeTarget): Promise<string | undefined> {
  try {
    const { statusCode, body } = await probe(target);
    if (statusCode === 200) return undefined;
    const failed = body.split('\n').filter((line) => line.startsWith('[-]'));
    return `${target.path} returned ${statusCode} ${failed.join(' ')}`.trim();
  } catch (error) {
    return `${target.path}: ${errorMessage(error)}`;
  }
}

interface NodeView {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}

/** Which nodes are not Ready, or why the list of nodes failed. Undefined if all are Ready. */
export async function unreadyNodes(
  api: Omit<ProbeTarget, 'path'>,
  expected: readonly string[],
): Promise<string | undefined> {
  try {
    const { statusCode, body } = await probe({ ...api, path: '/api/v1/nodes' });
    if (statusCode !== 200) return `the list of nodes returned ${statusCode}`;
    const { items }: { items: NodeView[] | null } = JSON.parse(body);
    const ready = new Set((items ?? []).filter(isReady).map((node) => node.metadata.name));
    const missing = expected.filter((name) => !ready.has(name));
    return missing.length === 0 ? undefined : `not Ready: ${missing.join(', ')}`;
  } catch (error) {
    return `the list of nodes: ${errorMessage(error)}`;
  }
}

/**
 * Why a pod that names no service account is refused in the namespace `default`. Undefined when the
 * controller manager has created the account.
 */
export async function missingServiceAccount(
  api: Omit<ProbeTarget, 'path'>,
): Promise<string | undefined> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  try {
    const { statusCode } = await probe({ ...api, path });
    return statusCode === 200 ? undefined : `${path} returned ${statusCode}`;
  } catch (error) {
    return `${path}: ${errorMessage(error)}`;
  }
}

function isReady(node: NodeView): boolean {
  return (
    node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
    false
  );
}

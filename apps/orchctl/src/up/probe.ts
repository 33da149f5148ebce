/** Asks a process of the cluster over HTTPS, on loopback, with the cluster's authority. */
import { request } from 'node:https';
import { probeBytesMax, probeTimeoutMs } from './limits.js';

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

/** Rejects when nothing answers; any status is an answer. */
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
          if (body.length > probeBytesMax) outgoing.destroy(new Error('the answer is too long'));
        });
        response.on('end', () => resolve({ statusCode: response.statusCode ?? 0, body }));
        response.on('error', reject);
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${probeTimeoutMs} ms`)));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Why the process is not healthy yet; undefined when it is. */
export async function unhealthyReason(target: ProbeTarget): Promise<string | undefined> {
  try {
    const { statusCode, body } = await probe(target);
    if (statusCode === 200) return undefined;
    const failed = body.split('\n').filter((line) => line.startsWith('[-]'));
    return `${target.path} answers ${statusCode} ${failed.join(' ')}`.trim();
  } catch (error) {
    return `${target.path}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface NodeView {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}

/** Which of the wanted nodes are not Ready, or why they cannot be asked for; undefined when all are. */
export async function unreadyNodes(
  api: Omit<ProbeTarget, 'path'>,
  wanted: readonly string[],
): Promise<string | undefined> {
  try {
    const { statusCode, body } = await probe({ ...api, path: '/api/v1/nodes' });
    if (statusCode !== 200) return `the list of nodes answers ${statusCode}`;
    const { items } = JSON.parse(body) as { items: NodeView[] | null };
    const ready = new Set((items ?? []).filter(isReady).map((node) => node.metadata.name));
    const missing = wanted.filter((name) => !ready.has(name));
    return missing.length === 0 ? undefined : `not Ready: ${missing.join(', ')}`;
  } catch (error) {
    return `the list of nodes: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isReady(node: NodeView): boolean {
  return (
    node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
    false
  );
}

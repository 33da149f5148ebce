/**
 * Logs of a pod: passed through from the agent of its node. Bytes go from one socket to the other with
 * back-pressure; when the client leaves, so does the request to the agent.
 */

import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { badRequest, internalError, notFound } from '@orch/apimachinery';
import type { Node, Pod } from '@orch/types/core/v1';
import { proxyConnectTimeoutMs } from '../limits.js';
import { objectOf } from '../registry/entry-view.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import { flushHead, headersFor, isCutOff, writeHead } from '../response/exchange.js';
import type { Call, Handler } from './call.js';

/** How to reach node agents. */
export interface NodeAgentTls {
  readonly certificatePem: string | undefined;
  readonly keyPem: string | undefined;
  /** Undefined: the agent's certificate is not checked. */
  readonly authorityPem: string | undefined;
  /** Kinds of node addresses, the most wanted first. */
  readonly addressTypes: readonly string[];
}

const defaultAgentPort = 10_250;

export function podLogHandler(tls: NodeAgentTls): Handler {
  return async (call) => {
    const pod = await readPod(call);
    const nodeName = pod.spec?.nodeName ?? '';
    const container = containerOf(pod, call.query.get('container'));
    if (nodeName === '') {
      writeHead(call.exchange, 204, headersFor(call.exchange, 'text/plain'));
      call.exchange.response.end();
      return;
    }
    const node = await readNode(call, nodeName);
    await proxy(call, node, container, tls);
  };
}

async function readPod(call: Call): Promise<Pod> {
  const { parts, served, info } = call;
  const { entry } = await parts.store.get(served.resource.key(info.namespace, info.name), {
    consistency: { kind: 'quorum' },
    timeoutMs: timeLeftMs(parts, call.deadlineMs),
  });
  if (!entry) throw notFound(served.groupResource, info.name);
  return objectOf(entry) as Pod;
}

async function readNode(call: Call, name: string): Promise<Node> {
  const { parts } = call;
  const nodes = parts.table.stored('core', 'nodes');
  const found = nodes
    ? await parts.store.get(nodes.key('', name), {
        consistency: { kind: 'any' },
        timeoutMs: timeLeftMs(parts, call.deadlineMs),
      })
    : undefined;
  if (!found?.entry) throw notFound({ group: '', resource: 'nodes' }, name);
  return objectOf(found.entry) as Node;
}

/** The container asked for, or the only one. Throws 400. */
function containerOf(pod: Pod, asked: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const names = containers.map(({ name = '' }) => name);
  const all = [...names, ...[...initContainers, ...ephemeralContainers].map(({ name }) => name)];
  const podName = pod.metadata?.name ?? '';
  if (asked === '') {
    if (all.length === 1) return names[0] ?? '';
    const initial =
      initContainers.length > 0
        ? ` or one of the init containers: [${initContainers.map(({ name }) => name).join(' ')}]`
        : '';
    throw badRequest(
      `a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]${initial}`,
    );
  }
  if (!all.includes(asked)) {
    throw badRequest(`container ${asked} is not valid for pod ${podName}`);
  }
  return asked;
}

function addressOf(node: Node, types: readonly string[]): string {
  const addresses = node.status?.addresses ?? [];
  for (const type of types) {
    const match = addresses.find((address) => address.type === type);
    if (match?.address) return match.address;
  }
  throw internalError(`no preferred addresses found for node ${node.metadata?.name}`);
}

async function proxy(call: Call, node: Node, container: string, tls: NodeAgentTls): Promise<void> {
  const { exchange, info, query } = call;
  const parameters = new URLSearchParams(query.toString());
  parameters.delete('container');
  const text = parameters.toString();
  const path = `/containerLogs/${encodeURIComponent(info.namespace)}/${encodeURIComponent(info.name)}/${encodeURIComponent(container)}`;
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? defaultAgentPort;
  const answer = await ask(
    addressOf(node, tls.addressTypes),
    port,
    text === '' ? path : `${path}?${text}`,
    tls,
  );
  const statusCode = answer.statusCode ?? 500;
  const contentType = answer.headers['content-type'] ?? 'text/plain';
  if (isCutOff(exchange.response)) {
    answer.destroy();
    return;
  }
  writeHead(exchange, statusCode, headersFor(exchange, contentType));
  flushHead(exchange);
  try {
    await pipeline(answer, exchange.response);
  } catch (error) {
    // The client or the agent has gone: there is nobody left to tell.
    if (!isCutOff(exchange.response)) throw error;
  }
}

function ask(
  host: string,
  port: number,
  path: string,
  tls: NodeAgentTls,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      host,
      port,
      path,
      agent: false,
      ...(tls.certificatePem !== undefined && { cert: tls.certificatePem }),
      ...(tls.keyPem !== undefined && { key: tls.keyPem }),
      ...(tls.authorityPem !== undefined
        ? { ca: tls.authorityPem }
        : { rejectUnauthorized: false }),
    });
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no answer within ${proxyConnectTimeoutMs} ms`)),
      proxyConnectTimeoutMs,
    );
    outgoing.once('response', (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    outgoing.once('error', (error) => {
      clearTimeout(timer);
      reject(internalError(`Get "https://${host}:${port}${path}": ${error.message}`));
    });
    outgoing.end();
  });
}

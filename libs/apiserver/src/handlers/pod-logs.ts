/**
 * Logs of a pod, passed through from the agent of its node as the response body or as WebSocket
 * messages. Bytes flow from one socket to the other with back-pressure; when the client
 * disconnects, the request to the agent is cancelled. An error of the agent becomes a Status.
 */
import type { IncomingMessage } from 'node:http';
import { badRequest, internalError, StatusError } from '@orch/apimachinery';
import type { Registry } from '@orch/registry';
import { chooseProtocol, listedValues, sendStream, webSocketLogProtocols } from '@orch/streaming';
import type { RequestContext } from '../http/request-context.js';
import { headersFor, isClosed, writeHead } from '../http/respond.js';
import type { ClientUpgrade } from '../http/upgrade.js';
import { openWebSocket, webSocketUpgrade } from '../http/web-socket.js';
import { logRefusalBytesMax } from '../limits.js';
import type { PodLogMetrics } from '../observability/pod-log-metrics.js';
import { requestWithoutUpgrade, sendResponse } from '../proxy/forward.js';
import { parseLogOptions } from '../request/log-options.js';
import type { Handler } from './handler.js';
import {
  agentPath,
  agentTarget,
  containerOf,
  type NodeAgentTls,
  readNode,
  readPod,
  withoutAuthority,
} from './node-agents.js';

export function podLogHandler(
  registry: Registry,
  tls: NodeAgentTls,
  metrics: PodLogMetrics,
): Handler {
  return async (context) => {
    const { info, query } = context;
    const options = parseLogOptions(query, info.name);
    const pod = await readPod(registry, context);
    const nodeName = pod.spec?.nodeName ?? '';
    const container = containerOf(pod, options.container);
    if (nodeName === '') {
      writeHead(context, 204, headersFor(context, 'text/plain'));
      context.response.end();
      return;
    }
    const node = await readNode(registry, context, nodeName);
    const names = [info.namespace, info.name, container];
    const path = agentPath('containerLogs', names, options.parameters);
    const trusted = options.skipsTlsVerification ? withoutAuthority(tls) : tls;
    const target = agentTarget(node, path, trusted);
    const url = `https://${target.host}:${target.port}${target.path}`;
    const unreachable = (reason: string, isUntrusted: boolean) => {
      if (isUntrusted) metrics.untrusted();
      return internalError(`Get "${url}": ${reason}`);
    };
    metrics.requested(trusted.authorityPem !== undefined);
    const log = await requestWithoutUpgrade(context, { ...target, unreachable });
    if (log.statusCode !== 200) throw await agentError(log, info.name);
    const upgrade = webSocketUpgrade(context);
    if (upgrade) return sendMessages(context, upgrade, log);
    return sendResponse(context, log, () => ({ headers: headersFor(context, 'text/plain') }));
  };
}

async function sendMessages(
  context: RequestContext,
  upgrade: ClientUpgrade,
  log: IncomingMessage,
): Promise<void> {
  try {
    const offered = listedValues(context.request.headers['sec-websocket-protocol']);
    const protocol = chooseProtocol(offered, webSocketLogProtocols());
    if (!protocol) {
      const message = `none of the protocols ${offered.join(', ')} is supported`;
      throw new StatusError({ code: 403, reason: 'Forbidden', message });
    }
    if (isClosed(context.response)) return;
    const webSocket = openWebSocket(context, upgrade, protocol.name);
    await sendStream(webSocket, log, protocol.base64);
  } finally {
    log.destroy();
  }
}

/** The error of the agent as a Status; the agent's text is the message for 400 and 500. */
async function agentError(response: IncomingMessage, podName: string): Promise<StatusError> {
  const { statusCode: code = 502 } = response;
  const text = await textOf(response);
  if (code === 400) return badRequest(text);
  if (code === 500) return internalError(text);
  const subject = `( pods/log ${podName})`;
  const details = { name: podName, kind: 'pods/log' };
  if (code === 404) {
    const message = `the server could not find the requested resource ${subject}`;
    return new StatusError({ code, reason: 'NotFound', message, details });
  }
  if (code < 500) {
    const message = `the server responded with the status code ${code} but did not return more information ${subject}`;
    return new StatusError({ code: code < 400 ? 502 : code, message, details });
  }
  const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding ${subject}`;
  return new StatusError({ code, reason: 'InternalError', message, details });
}

/** The beginning of the body. */
async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= logRefusalBytesMax) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, logRefusalBytesMax);
}

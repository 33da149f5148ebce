/**
 * Logs of a pod: passed through from the agent of its node, as the body of the answer or as messages of a
 * WebSocket. Bytes go from one socket to the other with back-pressure; when the client leaves, so does
 * the request to the agent. What the agent refuses is told in a Status.
 */
import type { IncomingMessage } from 'node:http';
import { badRequest, internalError, StatusError } from '@orch/apimachinery';
import { chooseProtocol, listedValues, sendStream, webSocketLogProtocols } from '@orch/streaming';
import { logRefusalBytesMax } from '../limits.js';
import type { PodLogMetrics } from '../observability/pod-log-metrics.js';
import { askForAnswer, sendAnswer } from '../proxy/forward.js';
import { parseLogOptions } from '../request/log-options.js';
import { type Exchange, headersFor, isCutOff, writeHead } from '../response/exchange.js';
import type { ClientUpgrade } from '../server/upgrade.js';
import { openWebSocket, webSocketUpgrade } from '../server/web-socket.js';
import type { Handler } from './call.js';
import {
  agentPath,
  agentTarget,
  containerOf,
  type NodeAgentTls,
  readNode,
  readPod,
} from './node-agents.js';

export function podLogHandler(tls: NodeAgentTls, metrics: PodLogMetrics): Handler {
  return async (call) => {
    const { exchange, info, query } = call;
    const options = parseLogOptions(query, info.name);
    const pod = await readPod(call);
    const nodeName = pod.spec?.nodeName ?? '';
    const container = containerOf(pod, options.container);
    if (nodeName === '') {
      writeHead(exchange, 204, headersFor(exchange, 'text/plain'));
      exchange.response.end();
      return;
    }
    const node = await readNode(call, nodeName);
    const names = [info.namespace, info.name, container];
    const path = agentPath('containerLogs', names, options.parameters);
    const trusted = options.skipsTlsVerification ? { ...tls, authorityPem: undefined } : tls;
    const target = agentTarget(node, path, trusted);
    const url = `https://${target.host}:${target.port}${target.path}`;
    const unreachable = (reason: string, isNotBelieved: boolean) => {
      if (isNotBelieved) metrics.notBelieved();
      return internalError(`Get "${url}": ${reason}`);
    };
    metrics.requested(trusted.authorityPem !== undefined);
    const answer = await askForAnswer(exchange, { ...target, unreachable });
    if (answer.statusCode !== 200) throw await refusalOf(answer, info.name);
    const upgrade = webSocketUpgrade(exchange);
    if (upgrade) return sendMessages(exchange, upgrade, answer);
    return sendAnswer(exchange, answer, () => ({ headers: headersFor(exchange, 'text/plain') }));
  };
}

async function sendMessages(
  exchange: Exchange,
  upgrade: ClientUpgrade,
  answer: IncomingMessage,
): Promise<void> {
  try {
    const offered = listedValues(exchange.request.headers['sec-websocket-protocol']);
    const protocol = chooseProtocol(offered, webSocketLogProtocols());
    if (!protocol) {
      const message = `none of the protocols ${offered.join(', ')} is spoken here`;
      throw new StatusError({ code: 403, reason: 'Forbidden', message });
    }
    if (isCutOff(exchange.response)) return;
    const webSocket = openWebSocket(exchange, upgrade, protocol.name);
    await sendStream(webSocket, answer, protocol.base64);
  } finally {
    answer.destroy();
  }
}

/** What the agent says is the message where it is the client's mistake, or its own. */
async function refusalOf(answer: IncomingMessage, podName: string): Promise<StatusError> {
  const { statusCode: code = 502 } = answer;
  const text = await textOf(answer);
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

/** As much of it as is handed on. */
async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes >= logRefusalBytesMax) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, logRefusalBytesMax);
}

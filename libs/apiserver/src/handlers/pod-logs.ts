/**
 * Logs of a pod: passed through from the agent of its node. Bytes go from one socket to the other with
 * back-pressure; when the client leaves, so does the request to the agent.
 */

import { internalError } from '@orch/apimachinery';
import { forward } from '../proxy/forward.js';
import { checkLogOptions } from '../request/log-options.js';
import { headersFor, writeHead } from '../response/exchange.js';
import type { Handler } from './call.js';
import {
  agentPath,
  agentTarget,
  containerOf,
  type NodeAgentTls,
  readNode,
  readPod,
} from './node-agents.js';

export function podLogHandler(tls: NodeAgentTls): Handler {
  return async (call) => {
    const { exchange, info, query } = call;
    checkLogOptions(query, info.name);
    const pod = await readPod(call);
    const nodeName = pod.spec?.nodeName ?? '';
    const container = containerOf(pod, query.get('container'));
    if (nodeName === '') {
      writeHead(exchange, 204, headersFor(exchange, 'text/plain'));
      exchange.response.end();
      return;
    }
    const node = await readNode(call, nodeName);
    const parameters = new URLSearchParams(query.toString());
    parameters.delete('container');
    const names = [info.namespace, info.name, container];
    const target = agentTarget(node, agentPath('containerLogs', names, parameters), tls);
    const url = `https://${target.host}:${target.port}${target.path}`;
    const unreachable = (reason: string) => internalError(`Get "${url}": ${reason}`);
    // What the client wants to do with this connection is not for the agent.
    const { upgrade: _none, ...plain } = exchange;
    await forward({ ...call, exchange: plain }, { ...target, unreachable });
  };
}

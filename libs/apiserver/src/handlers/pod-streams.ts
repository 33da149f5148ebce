/**
 * Commands in pods and connections to them: the client's connection is joined to one to the agent of the
 * pod's node, which speaks the streaming protocols. Bytes go through as they are, so every protocol of
 * the agent is one of the API.
 */
import { badRequest } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import { forward } from '../proxy/forward.js';
import type { Call, Handler } from './call.js';
import {
  agentPath,
  agentTarget,
  containerOf,
  type NodeAgentTls,
  readNode,
  readPod,
} from './node-agents.js';

/** Parameters of the API and what the agent calls them. */
const streamParameters = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

export function podCommandHandler(name: 'exec' | 'attach', tls: NodeAgentTls): Handler {
  return async (call) => {
    const { info, query } = call;
    const pod = await readPod(call);
    const container = containerOf(pod, query.get('container'));
    const parameters = new URLSearchParams();
    for (const command of query.all('command')) parameters.append('command', command);
    for (const [ours, theirs] of Object.entries(streamParameters)) {
      if (query.flag(ours)) parameters.set(theirs, '1');
    }
    if (name === 'exec' && !parameters.has('command')) {
      throw badRequest('you must specify at least 1 command for the container');
    }
    if (!['input', 'output', 'error'].some((stream) => parameters.has(stream))) {
      throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
    }
    const path = agentPath(name, [info.namespace, info.name, container], parameters);
    await toAgent(call, pod, path, tls);
  };
}

export function portForwardHandler(tls: NodeAgentTls): Handler {
  return async (call) => {
    const { info, query } = call;
    const pod = await readPod(call);
    const parameters = new URLSearchParams();
    for (const port of query.all('ports')) parameters.append('port', port);
    await toAgent(
      call,
      pod,
      agentPath('portForward', [info.namespace, info.name], parameters),
      tls,
    );
  };
}

async function toAgent(call: Call, pod: Pod, path: string, tls: NodeAgentTls): Promise<void> {
  const nodeName = pod.spec?.nodeName ?? '';
  if (nodeName === '') throw badRequest(`pod ${call.info.name} does not have a host assigned`);
  if (!call.exchange.upgrade) {
    throw badRequest('Upgrade request required');
  }
  await forward(call, agentTarget(await readNode(call, nodeName), path, tls));
}

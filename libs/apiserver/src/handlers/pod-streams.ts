/**
 * Commands in pods and connections to them: the client's connection is joined to a connection to
 * the agent of the pod's node, which implements the streaming protocols. Bytes pass unchanged, so
 * that the API supports every protocol of the agent.
 */
import { badRequest } from '@orch/apimachinery';
import type { Registry } from '@orch/registry';
import type { Pod } from '@orch/types/core/v1';
import type { RequestContext } from '../http/request-context.js';
import { forward } from '../proxy/forward.js';
import type { Handler } from './handler.js';
import {
  agentPath,
  agentTarget,
  containerOf,
  type NodeAgentTls,
  readNode,
  readPod,
} from './node-agents.js';

/** Parameters of the API by the agent's names for them. */
const streamParameters = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

export function podCommandHandler(
  name: 'exec' | 'attach',
  registry: Registry,
  tls: NodeAgentTls,
): Handler {
  return async (context) => {
    const { info, query } = context;
    const pod = await readPod(registry, context);
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
    await forwardToAgent(registry, context, pod, path, tls);
  };
}

export function portForwardHandler(registry: Registry, tls: NodeAgentTls): Handler {
  return async (context) => {
    const { info, query } = context;
    const pod = await readPod(registry, context);
    const parameters = new URLSearchParams();
    for (const port of query.all('ports')) parameters.append('port', port);
    const path = agentPath('portForward', [info.namespace, info.name], parameters);
    await forwardToAgent(registry, context, pod, path, tls);
  };
}

async function forwardToAgent(
  registry: Registry,
  context: RequestContext,
  pod: Pod,
  path: string,
  tls: NodeAgentTls,
): Promise<void> {
  const nodeName = pod.spec?.nodeName ?? '';
  if (nodeName === '') throw badRequest(`pod ${context.info.name} does not have a host assigned`);
  if (!context.upgrade) {
    throw badRequest('Upgrade request required');
  }
  const node = await readNode(registry, context, nodeName);
  await forward(context, agentTarget(node, path, tls));
}

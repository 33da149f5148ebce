/** Starts the agent of one node, or hollow nodes, or only cleans up after an agent that is gone. */
import { NestFactory } from '@nestjs/core';
import { createComponent, RestClient, restClientOptions } from '@orch/client';
import { connectionOf, systemClock, ValueError } from '@orch/component';
import { assignedRange, NodeAgent, nodeNameOf } from '@orch/node';
import { nodeAgentModule, type ProcessDependencies, processRuntime } from './node-agent.module.js';
import { ensureJoined, renewClientCertificate } from './node-identity.js';
import { startHollowNodes } from './start-hollow-nodes.js';

export async function startNodeAgent(dependencies: ProcessDependencies): Promise<void> {
  const { options, logger, lifecycle } = dependencies;
  if (options.hollow.count > 0) return startHollowNodes(dependencies);
  if (options.teardownOnly) {
    if (options.agent.podCidr === '') {
      throw new ValueError('--teardown-only requires the --pod-cidr that the node had');
    }
    const runtime = processRuntime(options, options.agent.podCidr, logger);
    await runtime.start();
    await runtime.stop({ teardown: true });
    lifecycle.stop('torn down');
    return;
  }
  await ensureJoined(dependencies);
  const podCidr = options.agent.podCidr || (await rangeOfNode(dependencies));
  const module = nodeAgentModule(dependencies, podCidr);
  const context = await createComponent(NestFactory, module, dependencies);
  if (options.certificates.rotateCertificates) renewClientCertificate(context, dependencies);
  const agent = context.get(NodeAgent);
  lifecycle.onStop('node agent', () => agent.stop());
  await agent.start();
}

/** The range that the controller manager assigns to the node. */
async function rangeOfNode({ options, logger, lifecycle }: ProcessDependencies): Promise<string> {
  const connection = connectionOf(options.client.requiredKubeconfig());
  const client = new RestClient(restClientOptions(connection));
  try {
    return await assignedRange({
      ...{ client, logger, clock: systemClock, random: Math.random },
      nodeName: nodeNameOf(options.agent),
      signal: lifecycle.stopping,
    });
  } finally {
    await client.close();
  }
}

/** Starts the agent of one node, or hollow nodes, or only cleans up after an agent that is gone. */
import { NestFactory } from '@nestjs/core';
import { createComponent } from '@orch/client';
import { NodeAgent } from '@orch/node';
import { nodeAgentModule, type ProcessDependencies, processRuntime } from './node-agent.module.js';
import { ensureJoined, renewClientCertificate } from './node-identity.js';
import { startHollowNodes } from './start-hollow-nodes.js';

export async function startNodeAgent(dependencies: ProcessDependencies): Promise<void> {
  const { options, logger, lifecycle } = dependencies;
  if (options.hollow.count > 0) return startHollowNodes(dependencies);
  if (options.teardownOnly) {
    const runtime = processRuntime(options, logger);
    await runtime.start();
    await runtime.stop({ teardown: true });
    lifecycle.stop('torn down');
    return;
  }
  await ensureJoined(dependencies);
  const context = await createComponent(NestFactory, nodeAgentModule(dependencies), dependencies);
  if (options.certificates.rotateCertificates) renewClientCertificate(context, dependencies);
  const agent = context.get(NodeAgent);
  lifecycle.onStop('node agent', () => agent.stop());
  await agent.start();
}

/** Starts the agent of one node, or only cleans up after one that is gone. */
import { NestFactory } from '@nestjs/core';
import { RestClient } from '@orch/client';
import { nestLogger } from '@orch/component';
import { NodeAgent } from '@orch/node';
import { nodeAgentModule, type ProcessParts, processRuntime } from './node-agent.module.js';

export async function startNodeAgent(parts: ProcessParts): Promise<void> {
  const { options, logger, lifecycle } = parts;
  if (options.teardownOnly) {
    const runtime = processRuntime(options, logger);
    await runtime.start();
    await runtime.stop({ teardown: true });
    lifecycle.stop('torn down');
    return;
  }
  const context = await NestFactory.createApplicationContext(nodeAgentModule(parts), {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  lifecycle.onStop('application context', () => context.close());
  const client = context.get(RestClient);
  lifecycle.onStop('client', () => client.close());
  const agent = context.get(NodeAgent);
  lifecycle.onStop('node agent', () => agent.stop());
  await agent.start();
}

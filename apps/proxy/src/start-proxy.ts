/** Starts the service proxy, or only cleans up after one that is gone. */
import { NestFactory } from '@nestjs/core';
import { RestClient } from '@orch/client';
import { HealthChecks, Metrics, nestLogger, startComponentServer } from '@orch/component';
import { ServiceProxy } from '@orch/proxying';
import { type ProcessParts, proxyModule } from './proxy.module.js';

export async function startProxy(parts: ProcessParts): Promise<void> {
  const { options, logger, lifecycle } = parts;
  const context = await NestFactory.createApplicationContext(proxyModule(parts), {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  lifecycle.onStop('application context', () => context.close());
  const client = context.get(RestClient);
  lifecycle.onStop('client', () => client.close());
  const proxy = context.get(ServiceProxy);
  if (options.teardownOnly) {
    lifecycle.onStop('service proxy', () => proxy.stop({ teardown: true }));
    lifecycle.stop('torn down');
    return;
  }
  await startComponentServer(options.serving, {
    health: context.get(HealthChecks),
    metrics: context.get(Metrics),
    postReview: async (path, body) => (await client.request('POST', path, { body })).json(),
    configuration: () => ({ proxy: options.proxy }),
    logger,
    lifecycle,
  });
  lifecycle.onStop('service proxy', () => proxy.stop());
  await proxy.start();
}

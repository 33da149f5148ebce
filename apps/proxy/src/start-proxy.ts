/** Starts the service proxy, or only removes the addresses that an earlier one has left. */
import { NestFactory } from '@nestjs/core';
import { createComponent, serveComponent } from '@orch/client';
import { HealthChecks } from '@orch/component';
import { ServiceProxy } from '@orch/proxying';
import { type ProcessDependencies, proxyModule } from './proxy.module.js';

export async function startProxy(dependencies: ProcessDependencies): Promise<void> {
  const { options, lifecycle } = dependencies;
  const context = await createComponent(NestFactory, proxyModule(dependencies), dependencies);
  const proxy = context.get(ServiceProxy);
  if (options.teardownOnly) {
    lifecycle.onStop('service proxy', () => proxy.stop({ teardown: true }));
    lifecycle.stop('torn down');
    return;
  }
  const checkServices = () => {
    if (!proxy.ready) throw new Error('services have not been listed yet');
  };
  const health = context.get(HealthChecks);
  health.add({ name: 'services', run: checkServices }, ['healthz', 'readyz']);
  await serveComponent(options.serving, context, dependencies, {
    configuration: () => ({ proxy: options.proxy }),
  });
  lifecycle.onStop('service proxy', () => proxy.stop());
  await proxy.start();
}

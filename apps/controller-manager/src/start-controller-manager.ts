/** Starts the controller manager: serves health, and runs the controllers while leading. */
import { NestFactory } from '@nestjs/core';
import { createComponent, RestClient, serveComponent, startElectedComponent } from '@orch/client';
import { HealthChecks, Metrics } from '@orch/component';
import { ControllerManager } from '@orch/controllers';
import { ComponentAuthentication } from '@orch/security';
import { controllerManagerModule, type ProcessDependencies } from './controller-manager.module.js';
import { debugPage, debugPath } from './debug-page.js';

export async function startControllerManager(dependencies: ProcessDependencies): Promise<void> {
  const { options } = dependencies;
  const context = await createComponent(
    NestFactory,
    controllerManagerModule(dependencies),
    dependencies,
  );
  const manager = context.get(ControllerManager);
  await serveComponent(options.serving, context, dependencies, {
    configuration: () => ({ controllers: options.controllers }),
    pages: { [debugPath]: debugPage(manager) },
    authentication: ComponentAuthentication.ofFlags(options, dependencies.logger),
    lookup: options.authentication,
  });
  startElectedComponent(options.election, {
    ...dependencies,
    component: 'controller-manager',
    client: context.get(RestClient),
    metrics: context.get(Metrics),
    health: context.get(HealthChecks),
    start: () => manager.start(),
    stop: () => manager.stop(),
  });
}

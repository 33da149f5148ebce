/** The parts of the controller manager process, put together once. Each is a plain class. */
import { readFileSync } from 'node:fs';
import { type DynamicModule, Module } from '@nestjs/common';
import { componentProviders, RestClient } from '@orch/client';
import {
  connectionOf,
  type Features,
  type Lifecycle,
  type Logger,
  Metrics,
  systemClock,
  UsageError,
} from '@orch/component';
import { ControllerManager } from '@orch/controllers';
import type { ControllerManagerOptions } from './controller-manager-options.js';

export interface ProcessDependencies {
  readonly options: ControllerManagerOptions;
  readonly features: Features;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class ControllerManagerModule {}

export function controllerManagerModule({
  options,
  features,
  logger,
}: ProcessDependencies): DynamicModule {
  return {
    module: ControllerManagerModule,
    providers: [
      ...componentProviders(options, logger),
      {
        provide: ControllerManager,
        inject: [RestClient, Metrics],
        useFactory: (client: RestClient, metrics: Metrics) =>
          new ControllerManager(
            {
              client,
              ...(options.accounts.useServiceAccountCredentials && {
                anonymousClient: client.withoutCredentials(),
              }),
              authorityPem: authorityPem(options),
              qps: options.client.apiQps,
              burst: options.client.apiBurst,
              logger,
              metrics,
              clock: systemClock,
              features,
              random: Math.random,
            },
            options.controllers,
          ),
      },
    ],
  };
}

/**
 * What pods check the API's certificate with: a file of its own, or what this process checks it
 * with.
 */
function authorityPem(options: ControllerManagerOptions): string | undefined {
  const { rootCaFile } = options.controllers;
  if (rootCaFile === '') {
    return connectionOf(options.client.requiredKubeconfig()).certificateAuthorityPem;
  }
  let text: string;
  try {
    text = readFileSync(rootCaFile, 'utf8');
  } catch (cause) {
    throw new UsageError(`--root-ca-file: cannot read ${rootCaFile}`, { cause });
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new UsageError(`--root-ca-file: ${rootCaFile} holds no PEM certificate`);
  }
  return text;
}

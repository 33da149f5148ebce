/**
 * The start-up that all clients of the API server share: providers, module, serving and shutdown.
 */
import type { DynamicModule, INestApplicationContext, Provider } from '@nestjs/common';
import type { NestFactory } from '@nestjs/core';
import {
  type ClientOptions,
  type CommonOptions,
  collectStartGarbage,
  type DelegatedAuthenticationOptions,
  HealthChecks,
  type Lifecycle,
  type Logger,
  logCheck,
  Metrics,
  nestLogger,
  type Page,
  pingCheck,
  type ServingAuthentication,
  type ServingOptions,
  startComponentServer,
  systemClock,
} from '@orch/component';
import { clientOfFlags } from '../rest/client-of-flags.js';
import { KubeconfigCredentials } from '../rest/kubeconfig-credentials.js';
import { RestClient } from '../rest/rest-client.js';
import { followAuthentication } from './follow-authentication.js';

export interface ComponentProviderOptions {
  readonly common: CommonOptions;
  readonly client: ClientOptions;
}

/** Health checks, metrics and the client, as the flags of the component configure them. */
export function componentProviders(options: ComponentProviderOptions, logger: Logger): Provider[] {
  return [
    { provide: HealthChecks, useFactory: createHealthChecks },
    { provide: Metrics, useFactory: () => new Metrics(options.common.shownMetricsRelease) },
    {
      provide: KubeconfigCredentials,
      useFactory: () =>
        new KubeconfigCredentials({
          path: options.client.requiredKubeconfig(),
          clock: systemClock,
          logger,
        }),
    },
    {
      provide: RestClient,
      inject: [KubeconfigCredentials, Metrics],
      useFactory: (credentials: KubeconfigCredentials, metrics: Metrics) =>
        clientOfFlags(options.client, credentials, logger, metrics),
    },
  ];
}

function createHealthChecks(): HealthChecks {
  const health = new HealthChecks();
  health.add(pingCheck);
  health.add(logCheck);
  return health;
}

export interface ComponentDependencies {
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/**
 * Creates the module of a component. Its client closes last, after everything that uses it. The
 * app passes the factory, so that the command line, which uses this library, does not load Nest.
 */
export async function createComponent(
  factory: Pick<typeof NestFactory, 'createApplicationContext'>,
  module: DynamicModule,
  { logger, lifecycle }: ComponentDependencies,
): Promise<INestApplicationContext> {
  const context = await factory.createApplicationContext(module, {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  lifecycle.onStop('application context', () => context.close());
  const client = context.get(RestClient);
  lifecycle.onStop('client', () => client.close());
  const credentials = context.get(KubeconfigCredentials);
  credentials.start();
  lifecycle.onStop('credentials', () => credentials.stop());
  collectStartGarbage(systemClock);
  return context;
}

/** Authentication of the clients of a component by certificates. */
export interface FollowedAuthentication extends ServingAuthentication {
  /** Whether the settings that the API servers publish are needed. */
  readonly needsLookup: boolean;
  publish(data: Readonly<Record<string, string>>): void;
  /** Follows the files of the settings. */
  start(): void;
  stop(): void;
}

export interface ServedComponent {
  readonly configuration: () => Readonly<Record<string, object>>;
  readonly pages?: Readonly<Record<string, Page>>;
  /** By default, the certificates of the authorities of `--client-ca-file`. */
  readonly authentication?: FollowedAuthentication;
  readonly lookup?: Pick<DelegatedAuthenticationOptions, 'toleratesLookupFailure'>;
}

/** Serves health, metrics and the pages of a component; authorizes requests at the API server. */
export async function serveComponent(
  options: ServingOptions,
  context: INestApplicationContext,
  dependencies: ComponentDependencies,
  { lookup, ...served }: ServedComponent,
): Promise<void> {
  const client = context.get(RestClient);
  const server = await startComponentServer(options, {
    health: context.get(HealthChecks),
    metrics: context.get(Metrics),
    postReview: async (path, body) => (await client.request('POST', path, { body })).json(),
    ...served,
    ...dependencies,
  });
  const { authentication } = served;
  if (!server || !authentication) return;
  authentication.start();
  dependencies.lifecycle.onStop('authentication', () => authentication.stop());
  if (!lookup || !authentication.needsLookup) return;
  const publish = (data: Readonly<Record<string, string>>) => authentication.publish(data);
  followAuthentication(lookup, { client, publish, clock: systemClock, ...dependencies });
}

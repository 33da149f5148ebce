/**
 * Starts the server of a component with the settings of its flags, and stops it with the process.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemClock } from '../clock.js';
import { errorMessage } from '../errors/thrown.js';
import type { HealthChecks } from '../health/health-checks.js';
import { exitCodes, FatalError } from '../lifecycle/exit-codes.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ServingOptions } from '../options/serving-options.js';
import type { KeyPairPem } from '../tls/certificate-request.js';
import { createSelfSigned } from '../tls/pki.js';
import { ReloadedTls, type TlsMaterial } from '../tls/reloaded-tls.js';
import { ComponentServer, type Page } from './component-server.js';
import { DelegatedAuthorizer, type PostReview } from './request-authorizer.js';
import type { ServingAuthentication } from './serving-request.js';

export interface ServingDependencies {
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  /** Posts reviews to the API server. */
  readonly postReview: PostReview;
  /** Authenticates connections in the place of `--client-ca-file`. */
  readonly authentication?: ServingAuthentication;
  readonly configuration: () => Readonly<Record<string, object>>;
  /** Pages of the component, by path. */
  readonly pages?: Readonly<Record<string, Page>>;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

const selfSignedValidMs = 365 * 86_400_000;

/** Returns the running server; undefined if port 0 disables it. */
export async function startComponentServer(
  options: ServingOptions,
  dependencies: ServingDependencies,
): Promise<ComponentServer | undefined> {
  if (options.securePort === 0) return undefined;
  const { authentication, logger } = dependencies;
  const files = authentication ? { ...options, clientCaFile: '' } : options;
  const material = {
    ...(await servingMaterial(files)),
    ...(authentication && { clientAuthoritiesPem: authentication.authoritiesPem }),
  };
  const server = new ComponentServer({
    bindAddress: options.bindAddress,
    port: options.securePort,
    tls: { ...material, ...options.tls },
    health: dependencies.health,
    metrics: dependencies.metrics,
    configuration: dependencies.configuration,
    ...(dependencies.pages && { pages: dependencies.pages }),
    authorizer: new DelegatedAuthorizer({
      postReview: dependencies.postReview,
      tokenTtlMs: options.tokenCacheTtlMs,
      authorizedTtlMs: options.authorizedCacheTtlMs,
      unauthorizedTtlMs: options.unauthorizedCacheTtlMs,
      clock: systemClock,
      allowAnonymous: true,
    }),
    alwaysAllowPaths: options.alwaysAllowPaths,
    ...options.profiles,
    ...(authentication && { authentication }),
    logger,
  });
  await server.start();
  const tls = followServingFiles(files, material, server, logger);
  authentication?.onChange(() => tls.trust(authentication.authoritiesPem));
  dependencies.lifecycle.onStop('component server', () => {
    tls.stop();
    return server.stop();
  });
  return server;
}

/** Serves health and metrics to everyone, without TLS and authorization. Port 0 disables it. */
export async function startInsecureServer(
  { address, port }: { readonly address: string; readonly port: number },
  {
    health,
    metrics,
    logger,
    lifecycle,
  }: Pick<ServingDependencies, 'health' | 'metrics' | 'logger' | 'lifecycle'>,
): Promise<void> {
  if (port === 0) return;
  const server = new ComponentServer({
    ...{ bindAddress: address, port, health, metrics, logger },
    ...{ configuration: undefined, alwaysAllowPaths: [] },
    ...{ profiling: false, contentionProfiling: false },
  });
  await server.start();
  lifecycle.onStop('insecure server', () => server.stop());
}

/** The flags that name the TLS files of a server. */
export type ServingFileOptions = Pick<
  ServingOptions,
  'tlsCertFile' | 'tlsPrivateKeyFile' | 'clientCaFile' | 'tls'
>;

/** Reads the certificate and the authorities that the flags name. Rejects with `FatalError`. */
export async function servingMaterial(options: ServingFileOptions): Promise<TlsMaterial> {
  return {
    pair: await servingPair(options),
    ...(options.clientCaFile && { clientAuthoritiesPem: readPem(options.clientCaFile) }),
  };
}

/** Replaces the certificates of `server` when their files change, until the result is stopped. */
export function followServingFiles(
  options: ServingFileOptions,
  current: TlsMaterial,
  server: ComponentServer,
  logger: Logger,
): ReloadedTls {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile } = options;
  const tls = new ReloadedTls({
    name: 'serving',
    ...(tlsCertFile && { certificateFile: tlsCertFile }),
    ...(tlsPrivateKeyFile && { keyFile: tlsPrivateKeyFile }),
    ...(clientCaFile && { clientAuthoritiesFile: clientCaFile }),
    current,
    replace: (material) => server.replaceTls({ ...material, ...options.tls }),
    clock: systemClock,
    logger,
  });
  tls.start();
  return tls;
}

/** Returns the configured serving certificate; by default a new self-signed one. */
async function servingPair(
  options: Pick<ServingOptions, 'tlsCertFile' | 'tlsPrivateKeyFile'>,
): Promise<KeyPairPem> {
  const { tlsCertFile, tlsPrivateKeyFile } = options;
  if (tlsCertFile && tlsPrivateKeyFile) {
    return { certificatePem: readPem(tlsCertFile), keyPem: readPem(tlsPrivateKeyFile) };
  }
  if (tlsCertFile || tlsPrivateKeyFile) {
    throw new FatalError(
      exitCodes.usage,
      '--tls-cert-file and --tls-private-key-file must be set together: set both or neither',
    );
  }
  const name = hostname();
  return createSelfSigned(
    {
      commonName: name,
      hosts: [name, 'localhost', '127.0.0.1', '::1'],
      usages: ['server'],
      validMs: selfSignedValidMs,
    },
    systemClock,
  );
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `cannot read ${path}: ${errorMessage(error)}`;
    throw new FatalError(exitCodes.failed, message, { cause: error });
  }
}

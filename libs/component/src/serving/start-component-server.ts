/** Starts a component's own server as its flags say, and stops it with the process. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemClock } from '../clock.js';
import type { HealthChecks } from '../health/health-checks.js';
import { exitCodes, FatalError } from '../lifecycle/exit-codes.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ServingOptions } from '../options/serving-options.js';
import type { KeyPairPem } from '../tls/certificate-request.js';
import { createSelfSigned } from '../tls/pki.js';
import { ComponentServer } from './component-server.js';
import { DelegatedAuthorizer, type PostReview } from './request-authorizer.js';

export interface ServingParts {
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  /** Sends reviews to the API server. */
  readonly postReview: PostReview;
  readonly configuration: () => Readonly<Record<string, object>>;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

const selfSignedValidMs = 365 * 86_400_000;

/** The running server, or undefined when port 0 disables it. */
export async function startComponentServer(
  options: ServingOptions,
  parts: ServingParts,
): Promise<ComponentServer | undefined> {
  if (options.securePort === 0) return undefined;
  const server = new ComponentServer({
    bindAddress: options.bindAddress,
    port: options.securePort,
    tls: {
      pair: await servingPair(options),
      minVersion: options.tlsMinVersion,
      ...(options.clientCaFile && { clientAuthoritiesPem: readPem(options.clientCaFile) }),
    },
    health: parts.health,
    metrics: parts.metrics,
    configuration: parts.configuration,
    authorizer: new DelegatedAuthorizer({
      postReview: parts.postReview,
      tokenTtlMs: options.tokenCacheTtlMs,
      authorizedTtlMs: options.authorizedCacheTtlMs,
      unauthorizedTtlMs: options.unauthorizedCacheTtlMs,
      clock: systemClock,
      allowAnonymous: true,
    }),
    alwaysAllowPaths: options.alwaysAllowPaths,
    profiling: options.profiling,
    logger: parts.logger,
  });
  await server.start();
  parts.lifecycle.onStop('component server', () => server.stop());
  return server;
}

/** The configured certificate, or one made for this run. */
export async function servingPair(
  options: Pick<ServingOptions, 'tlsCertFile' | 'tlsPrivateKeyFile'>,
): Promise<KeyPairPem> {
  const { tlsCertFile, tlsPrivateKeyFile } = options;
  if (tlsCertFile && tlsPrivateKeyFile) {
    return { certificatePem: readPem(tlsCertFile), keyPem: readPem(tlsPrivateKeyFile) };
  }
  if (tlsCertFile || tlsPrivateKeyFile) {
    throw new FatalError(
      exitCodes.usage,
      '--tls-cert-file and --tls-private-key-file belong together: give both or neither',
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
    const cause = error instanceof Error ? error.message : String(error);
    throw new FatalError(exitCodes.failed, `cannot read ${path}: ${cause}`, { cause: error });
  }
}

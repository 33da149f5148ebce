/**
 * Joins a node to the cluster: with the credentials of a bootstrap kubeconfig, such as a bootstrap
 * token, it requests the client certificate of the node, and writes the kubeconfig of the node.
 */

import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RestClient, restClientOptions } from '@orch/client';
import {
  type Clock,
  type ConnectionConfig,
  connectionOf,
  errorMessage,
  exitCodes,
  FatalError,
  type Kubeconfig,
  type KubeconfigCluster,
  KubeconfigError,
  type Logger,
  readKubeconfig,
  retry,
  writeKubeconfig,
} from '@orch/component';
import {
  joinAttemptCountMax,
  joinTimeoutMs,
  requestRetryMaxMs,
  requestRetryMinMs,
} from '../limits.js';
import type { CertificateStore } from './certificate-store.js';
import { clientCertificate, nodeUser } from './node-certificates.js';
import { RequestRejected, requestCertificate } from './request-certificate.js';

export interface JoinDependencies {
  readonly bootstrapKubeconfig: string;
  /** Written unless it has a valid client certificate. */
  readonly kubeconfig: string;
  readonly nodeName: string;
  readonly store: CertificateStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Resolves when the kubeconfig is usable. Rejects with `FatalError` if the request is rejected. */
export async function joinCluster(dependencies: JoinDependencies): Promise<void> {
  const { kubeconfig, bootstrapKubeconfig, nodeName, store, logger } = dependencies;
  if (hasValidCertificate(kubeconfig, dependencies)) return;
  if (!store.current(nodeUser(nodeName))) await obtainCertificate(dependencies);
  writeKubeconfig(kubeconfig, nodeKubeconfig(bootstrapKubeconfig, store.path));
  logger.info({ node: nodeName, kubeconfig }, 'joined the cluster');
}

function hasValidCertificate(path: string, { clock, logger }: JoinDependencies): boolean {
  if (!existsSync(path)) return false;
  let connection: ConnectionConfig;
  try {
    connection = connectionOf(path);
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    logger.warn({ reason: error.message }, 'the kubeconfig cannot be used, joining again');
    return false;
  }
  try {
    const { validTo } = new X509Certificate(connection.clientCertificatePem ?? '');
    return Date.parse(validTo) > clock.nowMs();
  } catch {
    // Without a certificate, the node has no identity of its own.
    return false;
  }
}

async function obtainCertificate(dependencies: JoinDependencies): Promise<void> {
  const { bootstrapKubeconfig, nodeName, store, clock, logger, random, signal } = dependencies;
  const client = new RestClient({
    ...restClientOptions(connectionOf(bootstrapKubeconfig)),
    clock,
    logger,
  });
  const attempt = async () => {
    const keyPem = await store.pendingKey();
    const wanted = clientCertificate(nodeName);
    const request = { client, clock, logger, signal };
    store.save({
      certificatePem: await requestCertificate(request, wanted, keyPem, joinTimeoutMs),
      keyPem,
    });
  };
  try {
    await retry(() => attempt().catch((error) => reported(error, logger)), {
      initialMs: requestRetryMinMs,
      maxMs: requestRetryMaxMs,
      factor: 2,
      jitter: 0.1,
      random,
      attemptCountMax: joinAttemptCountMax,
      isRetryable: (error) => !(error instanceof RequestRejected),
      signal,
      clock,
    });
  } catch (error) {
    const message = `cannot join the cluster: ${errorMessage(error)}`;
    throw new FatalError(exitCodes.failed, message, { cause: error });
  } finally {
    await client.close();
  }
}

function reported(error: unknown, logger: Logger): never {
  logger.warn({ reason: errorMessage(error) }, 'no certificate yet');
  throw error;
}

/** The cluster of the bootstrap kubeconfig with the certificate of the node in `pemPath`. */
function nodeKubeconfig(bootstrapPath: string, pemPath: string): Kubeconfig {
  const bootstrap = readKubeconfig(bootstrapPath);
  const current = bootstrap.contexts.find(({ name }) => name === bootstrap['current-context']);
  const cluster = bootstrap.clusters.find(({ name }) => name === current?.context.cluster)?.cluster;
  if (!cluster) throw new KubeconfigError(`kubeconfig ${bootstrapPath} has no current cluster`);
  const path = resolve(pemPath);
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default-cluster', cluster: withAbsolutePaths(cluster, bootstrapPath) }],
    users: [{ name: 'default-auth', user: { 'client-certificate': path, 'client-key': path } }],
    contexts: [
      { name: 'default-context', context: { cluster: 'default-cluster', user: 'default-auth' } },
    ],
    'current-context': 'default-context',
  };
}

/** Paths in a kubeconfig are relative to it. */
function withAbsolutePaths(cluster: KubeconfigCluster, kubeconfigPath: string): KubeconfigCluster {
  const file = cluster['certificate-authority'];
  if (file === undefined) return cluster;
  return { ...cluster, 'certificate-authority': resolve(dirname(kubeconfigPath), file) };
}

/**
 * The identity of the node: joins the cluster with the bootstrap kubeconfig, and renews the client
 * certificate while the process runs.
 */
import { join, resolve } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { KubeconfigCredentials, RestClient, restClientOptions } from '@orch/client';
import {
  connectionOf,
  type KeyPairPem,
  type Lifecycle,
  type Logger,
  Metrics,
  systemClock,
} from '@orch/component';
import {
  CertificateManager,
  CertificateStore,
  clientCertificate,
  joinCluster,
  nodeNameOf,
  nodeUser,
  renewalTimeoutMs,
  requestCertificate,
} from '@orch/node';
import type { NodeAgentProcessOptions } from './node-agent-process-options.js';

export interface IdentityDependencies {
  readonly options: NodeAgentProcessOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

export function certificateDirectory({ agent, certificates }: NodeAgentProcessOptions): string {
  return resolve(certificates.certDirectory ?? join(agent.rootDirectory, 'pki'));
}

/** Resolves when the kubeconfig of the node exists, if there is a bootstrap kubeconfig. */
export async function ensureJoined({
  options,
  logger,
  lifecycle,
}: IdentityDependencies): Promise<void> {
  const { bootstrapKubeconfig } = options.certificates;
  if (bootstrapKubeconfig === undefined) return;
  await joinCluster({
    bootstrapKubeconfig,
    kubeconfig: options.client.requiredKubeconfig(),
    nodeName: nodeNameOf(options.agent),
    store: clientStore(options),
    clock: systemClock,
    logger,
    random: Math.random,
    signal: lifecycle.stopping,
  });
}

/** Presents the stored certificate, which is newer than the kubeconfig, and renews it. */
export function renewClientCertificate(
  context: INestApplicationContext,
  { options, logger, lifecycle }: IdentityDependencies,
): void {
  const nodeName = nodeNameOf(options.agent);
  const store = clientStore(options);
  const credentials = context.get(KubeconfigCredentials);
  const stored = store.current(nodeUser(nodeName));
  if (stored) credentials.present(stored);
  const own = context.get(RestClient);
  const manager = new CertificateManager({
    store,
    current: stored ?? pairOf(options.client.requiredKubeconfig()),
    request: (keyPem, signal) =>
      withClient(options, own, manager.isValid, (client) =>
        requestCertificate(
          { client, clock: systemClock, logger, signal },
          clientCertificate(nodeName),
          keyPem,
          renewalTimeoutMs,
        ),
      ),
    onRotated: (pair) => credentials.present(pair),
    metrics: context.get(Metrics),
    metricNames: {
      ttl: 'kubelet_certificate_manager_client_ttl_seconds',
      errors: 'kubelet_certificate_manager_client_expiration_renew_errors',
    },
    clock: systemClock,
    logger,
    random: Math.random,
  });
  manager.start();
  lifecycle.onStop('client certificate', () => manager.stop());
}

function clientStore(options: NodeAgentProcessOptions): CertificateStore {
  return new CertificateStore(certificateDirectory(options), 'kubelet-client', systemClock);
}

function pairOf(kubeconfig: string): KeyPairPem | undefined {
  const { clientCertificatePem, clientKeyPem } = connectionOf(kubeconfig);
  if (clientCertificatePem === undefined || clientKeyPem === undefined) return undefined;
  return { certificatePem: clientCertificatePem, keyPem: clientKeyPem };
}

/** After the certificate has expired, the bootstrap credentials request the next one. */
async function withClient<Result>(
  { certificates }: NodeAgentProcessOptions,
  own: RestClient,
  isValid: boolean,
  use: (client: RestClient) => Promise<Result>,
): Promise<Result> {
  const { bootstrapKubeconfig } = certificates;
  if (isValid || bootstrapKubeconfig === undefined) return use(own);
  const client = new RestClient(restClientOptions(connectionOf(bootstrapKubeconfig)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

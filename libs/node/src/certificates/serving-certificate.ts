/** Requests the serving certificate of the agent, and renews it. */
import { X509Certificate } from 'node:crypto';
import type { ApiClient } from '@orch/client';
import type { Clock, KeyPairPem, Logger, Metrics } from '@orch/component';
import { renewalTimeoutMs } from '../limits.js';
import { CertificateManager } from './certificate-manager.js';
import { CertificateStore } from './certificate-store.js';
import { nodeUser, servingCertificate } from './node-certificates.js';
import { requestCertificate } from './request-certificate.js';

export interface ServingCertificateDependencies {
  readonly nodeName: string;
  /** The address in the certificate. */
  readonly address: string;
  readonly directory: string;
  /** Puts a certificate into use. */
  readonly present: (pair: KeyPairPem) => void;
  readonly client: ApiClient;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

/** Presents the stored certificate, unless it is of another address. */
export function servingCertificateManager(
  dependencies: ServingCertificateDependencies,
): CertificateManager {
  const { nodeName, address, directory, present, client, clock, logger } = dependencies;
  const store = new CertificateStore(directory, 'kubelet-server', clock);
  const stored = store.current(nodeUser(nodeName));
  const current = stored && isFor(stored, nodeName, address) ? stored : undefined;
  if (current) present(current);
  return new CertificateManager({
    ...dependencies,
    store,
    current,
    request: (keyPem, signal) =>
      requestCertificate(
        { client, clock, logger, signal },
        servingCertificate(nodeName, address),
        keyPem,
        renewalTimeoutMs,
      ),
    onRotated: present,
    metricNames: {
      ttl: 'kubelet_certificate_manager_server_ttl_seconds',
      errors: 'kubelet_server_expiration_renew_errors',
    },
  });
}

function isFor({ certificatePem }: KeyPairPem, nodeName: string, address: string): boolean {
  const certificate = new X509Certificate(certificatePem);
  return (
    certificate.checkHost(nodeName) !== undefined && certificate.checkIP(address) !== undefined
  );
}

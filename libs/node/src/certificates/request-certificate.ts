/**
 * Requests a certificate from a signer of the cluster: creates a certificate signing request and
 * waits until it is signed. The name of the request derives from the key, so that a repeated
 * request with the same key continues the first one.
 */
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { type ApiClient, Informer, isAlreadyExists, resources } from '@orch/client';
import {
  type Clock,
  createCertificateRequest,
  type Logger,
  type RequestedNames,
  withDeadline,
} from '@orch/component';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { isUsable } from './certificate-store.js';

export interface WantedCertificate {
  readonly names: Pick<RequestedNames, 'commonName' | 'organizations'> & Partial<RequestedNames>;
  readonly signerName: string;
  readonly usages: readonly string[];
}

export interface RequestDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** The request was denied, or its signer rejected it. */
export class RequestRejected extends Error {
  override readonly name = 'RequestRejected';
}

/** Resolves with the certificate (PEM). Rejects with `RequestRejected`, or when time is over. */
export async function requestCertificate(
  dependencies: RequestDependencies,
  wanted: WantedCertificate,
  keyPem: string,
  timeoutMs: number,
): Promise<string> {
  const { client, clock, logger } = dependencies;
  const name = requestName(keyPem, wanted);
  const { names, signerName, usages } = wanted;
  const pem = await createCertificateRequest(keyPem, names);
  const object: CertificateSigningRequest = {
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages: [...usages],
    },
  };
  try {
    await client.resource(resources.certificateSigningRequests).create(object);
    logger.info({ request: name, signer: signerName }, 'certificate requested');
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const certificatePem = await waitForCertificate(dependencies, name, timeoutMs);
  if (isUsable({ certificatePem, keyPem }, names.commonName, clock.nowMs())) return certificatePem;
  throw new RequestRejected(`the certificate of request ${name} is not usable`);
}

/** A hash of the public key, the signer and the usages. */
function requestName(keyPem: string, { signerName, usages }: WantedCertificate): string {
  const key = createPublicKey(createPrivateKey(keyPem)).export({ format: 'der', type: 'spki' });
  const hash = createHash('sha256')
    .update(key)
    .update([signerName, ...usages].join('\n'));
  return `node-csr-${hash.digest('hex')}`;
}

async function waitForCertificate(
  { client, clock, logger, signal }: RequestDependencies,
  name: string,
  timeoutMs: number,
): Promise<string> {
  const informer = new Informer<CertificateSigningRequest>({
    client,
    clock,
    logger,
    resource: resources.certificateSigningRequests,
    fieldSelector: `metadata.name=${name}`,
  });
  const signed = new Promise<string>((resolve, reject) => {
    const check = (request: CertificateSigningRequest) => {
      const outcome = outcomeOf(request);
      if (outcome instanceof Error) reject(outcome);
      else if (outcome !== undefined) resolve(outcome);
    };
    const onDelete = () => reject(new Error(`certificate request ${name} was deleted`));
    informer.addHandlers({ onAdd: check, onUpdate: check, onDelete });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  informer.start();
  try {
    return await withDeadline(signed, timeoutMs, `certificate request ${name}`, clock);
  } finally {
    await informer.stop();
  }
}

/** The certificate (PEM), the reason why there will be none, or undefined while it is pending. */
function outcomeOf({
  metadata,
  status,
}: CertificateSigningRequest): string | RequestRejected | undefined {
  for (const [type, what] of [
    ['Denied', 'denied'],
    ['Failed', 'rejected by its signer'],
  ]) {
    const condition = status?.conditions?.find((one) => one.type === type);
    if (!condition) continue;
    const { reason = '', message = '' } = condition;
    return new RequestRejected(
      `certificate request ${metadata?.name} is ${what}, reason: ${reason}, message: ${message}`,
    );
  }
  const { certificate = '' } = status ?? {};
  return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString('utf8');
}

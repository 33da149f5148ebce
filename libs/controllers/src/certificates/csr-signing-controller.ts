/**
 * Signs approved requests of the built-in signers. A request that its signer never accepts gets
 * the condition `Failed`.
 */
import { isConflict, isNotFound, resources } from '@orch/client';
import { CertificateRequestError, signCertificateRequest } from '@orch/component';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { type ControllerContext, type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import type { SigningOptions } from '../common/signing-options.js';
import { never } from '../common/watches.js';
import { hasCondition, isIssued, namesOrError, requestPem } from './request-state.js';
import { builtInSigners, type Signer } from './signers.js';
import { SigningAuthority } from './signing-authority.js';

const workerCount = 5;

interface ConfiguredSigner extends Signer {
  readonly authority: SigningAuthority;
}

type Status = NonNullable<CertificateSigningRequest['status']>;

/** Absent if no signer has a certificate. */
export const csrSigningController: ControllerFactory = (context, { signing }) => {
  const signers = configuredSigners(context, signing);
  if (signers.size === 0) return undefined;
  const requests = context.informers.informer(resources.certificateSigningRequests).lister;
  const client = context.client.resource(resources.certificateSigningRequests);

  return controller('csr_signing', context)
    .workers(workerCount)
    .for(resources.certificateSigningRequests, { delete: never })
    .reconcile(async (key) => {
      const request = requests.get(key);
      const signer = signers.get(request?.spec.signerName ?? '');
      if (!request || !signer || !isWaiting(request)) return done;
      const status = await signedStatus(context, request, signer, signing.durationMs);
      const write = client.replaceStatus({ ...request, status: { ...request.status, ...status } });
      await ignoring(write, isConflict, isNotFound);
      return done;
    });
};

function configuredSigners(
  { logger }: ControllerContext,
  signing: SigningOptions,
): ReadonlyMap<string, ConfiguredSigner> {
  const authorities = new Map<string, SigningAuthority>();
  const configured = builtInSigners().flatMap((signer): [string, ConfiguredSigner][] => {
    const files = signing.filesOf(signer.kind);
    if (!files) return [];
    const id = JSON.stringify(files);
    const authority = authorities.get(id) ?? new SigningAuthority(files, logger);
    authorities.set(id, authority);
    return [[signer.signerName, { ...signer, authority }]];
  });
  return new Map(configured);
}

function isWaiting(request: CertificateSigningRequest): boolean {
  return (
    !isIssued(request) &&
    hasCondition(request, 'Approved') &&
    !hasCondition(request, 'Denied') &&
    !hasCondition(request, 'Failed')
  );
}

/** The certificate, or the condition of a request that can never be signed. */
async function signedStatus(
  { clock }: ControllerContext,
  request: CertificateSigningRequest,
  { problem, authority }: ConfiguredSigner,
  validMs: number,
): Promise<Partial<Status>> {
  const usages = request.spec.usages ?? [];
  const names = await namesOrError(request);
  if (names instanceof CertificateRequestError) return failed(request, names.message);
  const rejection = problem(names, usages);
  if (rejection !== undefined) return failed(request, rejection);
  try {
    const options = { usages, validMs };
    const pem = await signCertificateRequest(
      authority.current(),
      requestPem(request),
      options,
      clock,
    );
    return { certificate: Buffer.from(pem).toString('base64') };
  } catch (error) {
    if (error instanceof CertificateRequestError) return failed(request, error.message);
    throw error;
  }
}

function failed({ status }: CertificateSigningRequest, message: string): Partial<Status> {
  const condition = {
    type: 'Failed',
    status: 'True' as const,
    reason: 'SignerValidationFailure',
    message,
  };
  return { conditions: [...(status?.conditions ?? []), condition] };
}

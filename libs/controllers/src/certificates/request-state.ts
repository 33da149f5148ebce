/** The state of certificate signing requests, and the names in them. */
import { CertificateRequestError, type RequestedNames, requestedNames } from '@orch/component';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';

export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return (
    status?.conditions?.some(
      (condition) => condition.type === type && (condition.status ?? 'True') === 'True',
    ) ?? false
  );
}

/** A request with a certificate is complete. */
export function isIssued({ status }: CertificateSigningRequest): boolean {
  return (status?.certificate ?? '') !== '';
}

/** The request for a certificate (PKCS #10) as PEM text. */
export function requestPem({ spec }: CertificateSigningRequest): string {
  return Buffer.from(spec.request ?? '', 'base64').toString('utf8');
}

/** The names in the request; the error if it is unreadable. */
export async function namesOrError(
  request: CertificateSigningRequest,
): Promise<RequestedNames | CertificateRequestError> {
  try {
    return await requestedNames(requestPem(request));
  } catch (error) {
    if (error instanceof CertificateRequestError) return error;
    throw error;
  }
}

/** Which permissions of its creator approve a certificate signing request. Pure. */
import type { RequestedNames } from '@orch/component';
import type { CertificateSigningRequestSpec } from '@orch/types/certificates/v1';
import { nodeClientProblem } from './node-request-plan.js';

export interface ApprovingPermission {
  /** The subresource of requests that the creator must be allowed to create. */
  readonly subresource: 'selfnodeclient' | 'nodeclient';
  /** Message of the approval. */
  readonly message: string;
}

/** First and longest pause before the permissions of a creator are checked again. */
const pauseMsMin = 1_000;
const pauseMsMax = 1_000_000;

/** The permissions of which one is enough; none for requests that only users approve. */
export function approvingPermissions(
  spec: CertificateSigningRequestSpec,
  names: RequestedNames,
  nodeClientSigner: string,
): ApprovingPermission[] {
  const { signerName, username, usages = [] } = spec;
  if (signerName !== nodeClientSigner || nodeClientProblem(names, usages) !== undefined) return [];
  const renewal: ApprovingPermission = {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  };
  return [
    ...(username === names.commonName ? [renewal] : []),
    {
      subresource: 'nodeclient',
      message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    },
  ];
}

/** The pause doubles: a role may be bound at any time after the request was created. */
export function nextCheckMs(ageMs: number): number {
  return Math.min(pauseMsMax, Math.max(pauseMsMin, ageMs));
}

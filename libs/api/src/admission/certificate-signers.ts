/** Who approves a request for a certificate, or signs it, must be allowed to for its signer. */
import { semanticallyEqual } from '@orch/apimachinery';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  refusal,
} from './admission-rule.js';

/** Allowed for the signer itself, or for all of its domain. */
async function checkSigner(
  target: AdmissionTarget,
  { allows }: AdmissionContext,
  verb: 'approve' | 'sign',
): Promise<void> {
  const signer = (target.old as CertificateSigningRequest).spec.signerName ?? '';
  const [domain = ''] = signer.split('/');
  for (const name of [signer, `${domain}/*`]) {
    if (await allows({ verb, groupHead: 'certificates', plural: 'signers', name })) return;
  }
  throw refusal(
    target,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
}

function isUpdateOf(target: AdmissionTarget, subresource: string): boolean {
  return (
    target.operation === 'UPDATE' &&
    target.groupHead === 'certificates' &&
    target.plural === 'certificatesigningrequests' &&
    target.subresource === subresource
  );
}

export const certificateApprovalRule: AdmissionRule = {
  name: 'CertificateApproval',
  async validate(target, context) {
    if (isUpdateOf(target, 'approval')) await checkSigner(target, context, 'approve');
  },
};

export const certificateSigningRule: AdmissionRule = {
  name: 'CertificateSigning',
  async validate(target, context) {
    if (!isUpdateOf(target, 'status')) return;
    const { status } = target.object as CertificateSigningRequest;
    const { status: before } = target.old as CertificateSigningRequest;
    const isSame =
      status?.certificate === before?.certificate &&
      semanticallyEqual(status?.conditions, before?.conditions);
    if (!isSame) await checkSigner(target, context, 'sign');
  },
};

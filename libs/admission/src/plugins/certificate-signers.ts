/** Approving or signing a certificate signing request requires a permission on its signer. */
import { semanticallyEqual } from '@orch/apimachinery';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import {
  type AdmissionContext,
  forbiddenTarget,
  type UpdateRule,
  type UpdateTarget,
} from '../rule.js';

/** The permission may be on the signer itself or on its whole domain. */
async function checkSigner(
  target: UpdateTarget<CertificateSigningRequest>,
  { allows }: AdmissionContext,
  verb: 'approve' | 'sign',
): Promise<void> {
  const signer = target.old.spec.signerName ?? '';
  const [domain = ''] = signer.split('/');
  for (const name of [signer, `${domain}/*`]) {
    if (await allows({ verb, groupHead: 'certificates', plural: 'signers', name })) return;
  }
  throw forbiddenTarget(
    target,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
}

export const certificateApproval: UpdateRule<'certificates/certificatesigningrequests'> = {
  name: 'CertificateApproval',
  isDefault: true,
  kinds: ['certificates/certificatesigningrequests'],
  operations: ['UPDATE'],
  subresource: 'approval',

  async validate(target, context) {
    await checkSigner(target, context, 'approve');
  },
};

export const certificateSigning: UpdateRule<'certificates/certificatesigningrequests'> = {
  name: 'CertificateSigning',
  isDefault: true,
  kinds: ['certificates/certificatesigningrequests'],
  operations: ['UPDATE'],
  subresource: 'status',

  async validate(target, context) {
    const { status } = target.object;
    const { status: before } = target.old;
    const isSame =
      status?.certificate === before?.certificate &&
      semanticallyEqual(status?.conditions, before?.conditions);
    if (!isSame) await checkSigner(target, context, 'sign');
  },
};

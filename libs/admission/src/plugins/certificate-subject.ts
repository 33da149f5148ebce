/** Rejects client certificates for the administrators' group. */

import { clientSigner, requestedSubject } from '@orch/api';
import { forbiddenTarget, type WriteRule } from '../rule.js';

const administrators = 'system:masters';

export const certificateSubject: WriteRule<'certificates/certificatesigningrequests'> = {
  name: 'CertificateSubjectRestriction',
  isDefault: true,
  kinds: ['certificates/certificatesigningrequests'],
  operations: ['CREATE'],
  subresource: '',

  validate(target) {
    const { spec } = target.object;
    const signer = clientSigner();
    if (spec.signerName !== signer) return;
    if (!requestedSubject(spec.request)?.organizations.includes(administrators)) return;
    throw forbiddenTarget(
      target,
      `use of ${signer} signer with ${administrators} group is not allowed`,
    );
  },
};

/** Nobody gets the administrators' group by a client certificate. */
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { requestedSubject } from '../certificates/request.js';
import { clientSigner } from '../certificates/signer-name.js';
import { type AdmissionRule, isWriteOf, refusal } from './admission-rule.js';

const administrators = 'system:masters';

export const certificateSubjectRule: AdmissionRule = {
  name: 'CertificateSubjectRestriction',

  validate(target) {
    if (!isWriteOf(target, 'certificates', 'certificatesigningrequests', ['CREATE'])) return;
    const { spec } = target.object as CertificateSigningRequest;
    const signer = clientSigner();
    if (spec.signerName !== signer) return;
    if (!requestedSubject(spec.request)?.organizations.includes(administrators)) return;
    throw refusal(target, `use of ${signer} signer with ${administrators} group is not allowed`);
  },
};

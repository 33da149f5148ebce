import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { describe, expect, it } from 'vitest';
import { type Admitting, admit, refusalOf } from '../testing/admit.js';
import type { Permission } from './admission-rule.js';
import { certificateApprovalRule, certificateSigningRule } from './certificate-signers.js';

const request = (status: object = {}): CertificateSigningRequest =>
  ({ metadata: { name: 'r' }, spec: { signerName: 'a.b/c' }, status }) as CertificateSigningRequest;

function admitting(subresource: string, allowed: readonly string[]): Admitting {
  return {
    rules: [certificateApprovalRule, certificateSigningRule],
    groupHead: 'certificates',
    plural: 'certificatesigningrequests',
    subresource,
    old: request(),
    allows: ({ verb, groupHead, plural, name }: Permission) =>
      groupHead === 'certificates' && plural === 'signers' && allowed.includes(`${verb} ${name}`),
  };
}

describe.each([
  ['approval', 'approve'],
  ['status', 'sign'],
])('%s of a certificate', (subresource, verb) => {
  const changed = request({ certificate: 'x' });

  it.each(['a.b/c', 'a.b/*'])('is for those who may for %s', async (name) => {
    await admit(changed, admitting(subresource, [`${verb} ${name}`]));
  });

  it('is for nobody else', async () => {
    const others = [
      'approve x.y/*',
      'sign x.y/*',
      subresource === 'status' ? 'approve a.b/c' : 'sign a.b/c',
    ];
    expect(await refusalOf(admit(changed, admitting(subresource, others)))).toBe(
      `certificatesigningrequests.certificates.orch.io "r" is forbidden: user not permitted to ${verb} requests with signerName "a.b/c"`,
    );
  });
});

it('a status that stays may be written by anybody', async () => {
  await admit(request(), admitting('status', []));
});

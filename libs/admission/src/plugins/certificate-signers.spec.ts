import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { describe, expect, it } from 'vitest';
import type { Permission } from '../rule.js';
import { type Admitting, admit, refusalOf } from '../testing/admit.js';
import { certificateApproval, certificateSigning } from './certificate-signers.js';

const request = (status: object = {}): CertificateSigningRequest =>
  ({ metadata: { name: 'r' }, spec: { signerName: 'a.b/c' }, status }) as CertificateSigningRequest;

function admitting(subresource: string, allowed: readonly string[]): Admitting {
  return {
    rules: [certificateApproval, certificateSigning],
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

  it.each(['a.b/c', 'a.b/*'])('is allowed with a permission on %s', async (name) => {
    await admit(changed, admitting(subresource, [`${verb} ${name}`]));
  });

  it('is forbidden without the permission', async () => {
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

it('an unchanged status may be written by any user', async () => {
  await admit(request(), admitting('status', []));
});

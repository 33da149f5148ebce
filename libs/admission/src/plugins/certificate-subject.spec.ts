import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { expect, it } from 'vitest';
import { admit } from '../testing/admit.js';
import { certificateSubject } from './certificate-subject.js';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

async function requestFor(organization: string): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const generated = await Pkcs10CertificateRequestGenerator.create(
    {
      name: [{ O: [organization] }, { CN: ['someone'] }],
      keys: keys as never,
      signingAlgorithm: algorithm,
    },
    webcrypto as never,
  );
  return Buffer.from(generated.toString('pem')).toString('base64');
}

async function admitRequest(organization: string): Promise<void> {
  const spec = {
    signerName: 'orch.io/orch-apiserver-client',
    request: await requestFor(organization),
  };
  const object = { metadata: { name: 'x' }, spec } as CertificateSigningRequest;
  await admit(object, {
    rules: [certificateSubject],
    groupHead: 'certificates',
    plural: 'certificatesigningrequests',
  });
}

it('rejects client certificate requests for the group of the administrators', async () => {
  await expect(admitRequest('dev')).resolves.toBeUndefined();
  await expect(admitRequest('system:masters')).rejects.toMatchObject({ code: 403 });
});

import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../clock.js';
import { CertificateRequestError, type KeyPairPem } from './certificate-request.js';
import {
  createAuthority,
  createCertificateRequest,
  createKeyPem,
  requestedNames,
  signCertificateRequest,
} from './pki.js';

const hourMs = 3_600_000;
const yearMs = 8_760 * hourMs;
const clientUsages = ['key encipherment', 'digital signature', 'client auth'];
const node = { organizations: ['system:nodes'], commonName: 'system:node:n1' };

const authority = (validMs = 10 * yearMs) => createAuthority('ca', validMs, systemClock);

async function signed(
  names: Parameters<typeof createCertificateRequest>[1],
  { usages = clientUsages, validMs = yearMs, ca = authority() } = {},
): Promise<X509Certificate> {
  const request = await createCertificateRequest(await createKeyPem(), names);
  return new X509Certificate(
    await signCertificateRequest(await ca, request, { usages, validMs }, systemClock),
  );
}

describe('certificate requests', () => {
  it('carry names and are signed for them', async () => {
    const keyPem = await createKeyPem();
    const names = { ...node, dnsNames: ['n1.example.com'], ipAddresses: ['10.0.0.1', '::1'] };
    const request = await createCertificateRequest(keyPem, names);
    expect(await requestedNames(request)).toEqual({ ...names, emailAddresses: [], uris: [] });
    const ca = await authority();
    const usages = ['server auth', 'digital signature'];
    const text = await signCertificateRequest(
      ca,
      request,
      { usages, validMs: yearMs },
      systemClock,
    );
    const certificate = new X509Certificate(text);
    expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n1');
    expect(certificate.issuer).toBe('CN=ca');
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate.checkHost('n1.example.com')).toBe('n1.example.com');
    expect(certificate.checkIP('10.0.0.1')).toBe('10.0.0.1');
    expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(certificate.verify(new X509Certificate(ca.certificatePem).publicKey)).toBe(true);
  });

  it('are signed with the names as they are, without interpretation', async () => {
    const hidden = Buffer.from('\x0c\x0esystem:masters').toString('hex');
    for (const organization of [`#${hidden}`, '"quoted"', 'a\\2cb', 'x, O=system:masters']) {
      const { subject } = await signed({ organizations: [organization], commonName: '#00' });
      expect(subject.replaceAll('\\', '')).toBe(`O=${organization}\nCN=#00`.replaceAll('\\', ''));
      expect(subject).not.toMatch(/^O=system:masters/m);
    }
  });

  it.each([
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['P-384', () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey],
    ['Ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ])('are signed for keys of type %s', async (_type, generate) => {
    const key = generate();
    const keyPem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
    const request = await createCertificateRequest(keyPem, node);
    const options = { usages: clientUsages, validMs: yearMs };
    const text = await signCertificateRequest(await authority(), request, options, systemClock);
    expect(new X509Certificate(text).checkPrivateKey(key)).toBe(true);
  });

  it.each(['rsa', 'ec'])('are signed by an authority with a traditional %s key', async (type) => {
    const key =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
        : generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey;
    const keyPem = key.export({ format: 'pem', type: type === 'rsa' ? 'pkcs1' : 'sec1' }) as string;
    const parent = await authority();
    const request = await createCertificateRequest(keyPem, { organizations: [], commonName: 'i' });
    const options = { usages: ['cert sign'], validMs: yearMs };
    const certificatePem = await signCertificateRequest(parent, request, options, systemClock);
    const ca: KeyPairPem = { certificatePem, keyPem };
    const certificate = await signed(node, { ca: Promise.resolve(ca) });
    expect(certificate.verify(new X509Certificate(certificatePem).publicKey)).toBe(true);
  });

  it('are valid for the whole duration, but no longer than the authority', async () => {
    const lifetimeMs = ({ validFrom, validTo }: X509Certificate) =>
      Date.parse(validTo) - Date.parse(validFrom);
    expect(lifetimeMs(await signed(node))).toBe(yearMs);
    const short = await signed(node, { validMs: 60_000 });
    expect(lifetimeMs(short)).toBe(60_000);
    expect(Date.parse(short.validTo)).toBeGreaterThan(Date.now() + 50_000);
    const ca = await authority(hourMs);
    const bounded = await signed(node, { ca: Promise.resolve(ca) });
    expect(bounded.validTo).toBe(new X509Certificate(ca.certificatePem).validTo);
    const later: Clock = { ...systemClock, nowMs: () => Date.now() + 2 * hourMs };
    const request = await createCertificateRequest(await createKeyPem(), node);
    const options = { usages: clientUsages, validMs: hourMs };
    await expect(signCertificateRequest(ca, request, options, later)).rejects.toThrow(/expired on/);
  });

  it('have every usage of the API', async () => {
    const usages = ['any', 's/mime', 'email protection', 'netscape sgc', 'cert sign', 'crl sign'];
    const { keyUsage, ca } = await signed(node, { usages });
    expect(keyUsage).toEqual(['2.5.29.37.0', '1.3.6.1.5.5.7.3.4', '2.16.840.1.113730.4.1']);
    expect(ca).toBe(false);
    await expect(signed(node, { usages: ['client auth', 'flying'] })).rejects.toThrow(
      'unrecognized usage values: "flying"',
    );
  });

  it('are rejected if they are damaged', async () => {
    const request = await createCertificateRequest(await createKeyPem(), node);
    const bytes = Buffer.from(request.replace(/-----[^-]+-----/g, ''), 'base64');
    const pem = (body: Buffer, type = 'CERTIFICATE REQUEST') =>
      `-----BEGIN ${type}-----\n${body.toString('base64')}\n-----END ${type}-----\n`;
    const forged = Buffer.from(bytes);
    forged.write('system:node:n2', forged.indexOf('system:node:n1'));
    const options = { usages: clientUsages, validMs: yearMs };
    const ca = await authority();
    for (const damaged of [
      ...['', 'garbage', pem(Buffer.from('garbage')), pem(bytes, 'CERTIFICATE')],
      ...[pem(bytes.subarray(0, 60)), pem(forged)],
    ]) {
      const signing = signCertificateRequest(ca, damaged, options, systemClock);
      await expect(signing).rejects.toBeInstanceOf(CertificateRequestError);
    }
    // Some damage is in bytes without meaning, such as the tag of the outer sequence.
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ 0x21;
      const outcome = await signCertificateRequest(ca, pem(changed), options, systemClock).catch(
        (error: unknown) => error,
      );
      if (outcome instanceof CertificateRequestError) continue;
      const { subject } = new X509Certificate(String(outcome));
      expect(subject).toBe('O=system:nodes\nCN=system:node:n1');
    }
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { dialect, TokenKeyError } from '@orch/component';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createSigningKeyPem, keySet, serviceAccountKeys } from './service-account-keys.js';
import { ServiceAccountTokens } from './service-account-tokens.js';
import type { TokenLifetimeOptions } from './token-lifetimes.js';

const issuer = 'https://cluster.example';
const file = (pem: string) => ({ path: 'key.pem', pem });
const rsaPem = await createSigningKeyPem();
const ecPem = (curve: string) =>
  generateKeyPairSync('ec', { namedCurve: curve })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
const subject = {
  namespace: 'ns',
  account: { name: 'builder', uid: 'account-uid' },
  pod: { name: 'p', uid: 'pod-uid' },
};

interface TokensWithOptions {
  readonly pem?: string;
  readonly others?: string[];
  readonly issuer?: string;
  readonly lifetimes?: TokenLifetimeOptions;
}

function tokensWith(more: TokensWithOptions = {}) {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const tokens = new ServiceAccountTokens({
    keys: serviceAccountKeys(file(more.pem ?? rsaPem), (more.others ?? []).map(file)),
    issuer: more.issuer ?? issuer,
    apiAudiences: ['api'],
    lifetimes: more.lifetimes ?? { secondsMax: 0, extendExpiration: false },
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, setTimer: () => ({ cancel() {} }) },
  });
  return { tokens, pass: (seconds: number) => (nowMs += seconds * 1_000) };
}

describe('service account tokens', () => {
  it.each([
    ['RS256', rsaPem],
    ['ES256', ecPem('P-256')],
    ['ES384', ecPem('P-384')],
  ])('carry with %s the bearer and the bound object', async (algorithm, pem) => {
    const { tokens } = tokensWith({ pem });
    const { token, expiresMs } = await tokens.issue(subject, ['api', 'other'], 600);
    const seconds = Date.parse('2026-01-01T00:00:00Z') / 1_000;
    expect(decodeProtectedHeader(token)).toEqual({
      alg: algorithm,
      kid: tokens.keys.signing.id,
    });
    expect(decodeJwt(token)).toEqual({
      iss: issuer,
      sub: 'system:serviceaccount:ns:builder',
      aud: ['api', 'other'],
      iat: seconds,
      nbf: seconds,
      exp: seconds + 600,
      [dialect().keyDomain]: {
        namespace: 'ns',
        serviceaccount: subject.account,
        pod: subject.pod,
      },
    });
    expect(expiresMs).toBe((seconds + 600) * 1_000);
    expect(await tokens.verify(token)).toEqual({ subject, audiences: ['api', 'other'], expiresMs });
  });

  it('end with their life and the tolerance between clocks', async () => {
    const { tokens, pass } = tokensWith();
    const { token } = await tokens.issue(subject, ['api'], 600);
    const verified = await tokens.verify(token);
    pass(659);
    expect(await tokens.verify(token)).toBeDefined();
    expect(tokens.hasExpired(verified!)).toBe(false);
    pass(2);
    expect(await tokens.verify(token)).toBeUndefined();
    expect(tokens.hasExpired(verified!)).toBe(true);
  });

  it('are refused when changed, of another issuer or of an unknown key', async () => {
    const { tokens } = tokensWith();
    const { token } = await tokens.issue(subject, ['api'], 600);
    const [head, , signature] = token.split('.');
    const claims = { ...decodeJwt(token), sub: 'system:serviceaccount:ns:root' };
    const forged = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
    expect(await tokens.verify(forged)).toBeUndefined();
    expect(await tokens.verify('no token')).toBeUndefined();
    const foreign = tokensWith({ issuer: 'https://other.example' }).tokens;
    const strange = tokensWith({ pem: await createSigningKeyPem() }).tokens;
    for (const other of [foreign, strange]) {
      const issued = await other.issue(subject, ['api'], 600);
      expect(await tokens.verify(issued.token)).toBeUndefined();
    }
  });

  it('are refused when signed with the public key as a shared secret, or without claims of ours', async () => {
    const { tokens } = tokensWith();
    const { id, publicKey, privateKey } = tokens.keys.signing;
    const secret = Buffer.from(publicKey.export({ type: 'spki', format: 'pem' }));
    const base = () =>
      new SignJWT({}).setIssuer(issuer).setSubject('x').setAudience('api').setExpirationTime(2e9);
    const confused = await base().setProtectedHeader({ alg: 'HS256', kid: id }).sign(secret);
    const bare = await base().setProtectedHeader({ alg: 'RS256', kid: id }).sign(privateKey);
    expect(await tokens.verify(confused)).toBeUndefined();
    expect(await tokens.verify(bare)).toBeUndefined();
  });

  it('of a key that was replaced are believed while its file is given', async () => {
    const { token } = await tokensWith().tokens.issue(subject, ['api'], 600);
    const next = await createSigningKeyPem();
    expect(await tokensWith({ pem: next }).tokens.verify(token)).toBeUndefined();
    const both = tokensWith({ pem: next, others: [rsaPem] }).tokens;
    expect(await both.verify(token)).toBeDefined();
    const published = keySet(both.keys).keys;
    expect(published).toHaveLength(2);
    expect(published[0]).toMatchObject({ use: 'sig', kty: 'RSA', alg: 'RS256' });
    expect(published[0]).not.toHaveProperty('d');
  });

  it.each([
    ['nothing', ''],
    ['a short RSA key', shortKey()],
    ['another curve', ecPem('secp256k1')],
  ])('are not signed with %s', (_what, pem) => {
    expect(() => serviceAccountKeys(file(pem), [])).toThrow(TokenKeyError);
  });
});

function shortKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

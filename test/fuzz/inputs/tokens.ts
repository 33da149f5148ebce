/** JSON web tokens: valid ones, and forged, expired, misdirected and oversized ones. */
import { createHmac, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { hostileJson } from './json.js';
import { hostileText } from './text.js';

export interface TokenKey {
  /** The key id that verifiers know it by, if they do. */
  readonly id: string;
  readonly algorithm: 'RS256' | 'ES256';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** How a token differs from a valid one; undefined members do not differ. */
export interface TokenPlan {
  /** `own` keys are believed by the verifier. */
  readonly signer: 'own rsa' | 'own ec' | 'foreign rsa' | 'foreign ec' | 'public key' | 'none';
  readonly algorithm: string | undefined;
  readonly keyId: 'right' | 'other' | 'missing' | { readonly text: string };
  readonly header: Readonly<Record<string, unknown>>;
  readonly issuer: unknown;
  readonly audience: unknown;
  readonly expiresInSeconds: unknown;
  readonly validInSeconds: unknown;
  readonly subject: unknown;
  readonly uid: string;
  readonly pod: 'none' | 'existing' | 'deleted';
  readonly paddingLength: number;
}

const usually = <T>(value: T, others: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant<unknown>(value) }, { weight: 1, arbitrary: others });

const algorithms = [
  ...['none', 'None', 'NONE', 'nOnE', 'HS256', 'HS512', 'RS256', 'RS384', 'ES256', 'ES384'],
  ...['PS256', 'EdDSA', '', '__proto__'],
];

const extraHeaders = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, unknown>>(
      { crit: ['exp'] },
      { crit: ['b64'], b64: false },
      { crit: [] },
      { b64: false },
      { zip: 'DEF' },
      { typ: 'JOSE' },
      { jku: 'https://evil.example/keys' },
      { x5u: 'file:///etc/passwd' },
    ),
  },
);

const lifetimes = fc.oneof(
  fc.constantFrom<unknown>(-3_600, -61, -60, -59, 0, 1e300, Number.MAX_SAFE_INTEGER),
  fc.constantFrom<unknown>(null, undefined, '9999999999', [9_999_999_999], {}),
  fc.integer({ min: -200, max: 200 }),
);

/** `valid`: the values of claims that the verifier accepts. */
export function tokenPlans(valid: {
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly uid: string;
}): fc.Arbitrary<TokenPlan> {
  return fc.record({
    signer: fc.constantFrom<TokenPlan['signer'][]>(
      ...(['own ec', 'own ec', 'own ec', 'own ec', 'own ec', 'own rsa'] as const),
      ...(['foreign ec', 'foreign rsa', 'public key', 'none'] as const),
    ),
    algorithm: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...algorithms) },
    ),
    keyId: fc.oneof<fc.Arbitrary<TokenPlan['keyId']>[]>(
      ...Array.from({ length: 8 }, () => fc.constant('right' as const)),
      fc.constantFrom('other' as const, 'missing' as const),
      hostileText.map((text) => ({ text: text.slice(0, 200) })),
    ),
    header: extraHeaders,
    issuer: usually(
      valid.issuer,
      fc.oneof(
        fc.constantFrom<unknown>('', `${valid.issuer}/`, valid.issuer.toUpperCase(), undefined),
        fc.constant([valid.issuer]),
        hostileJson,
      ),
    ),
    audience: usually(
      [valid.audience],
      fc.oneof(
        fc.constantFrom<unknown>(valid.audience, 'other', ['other', valid.audience], [], undefined),
        fc.constantFrom<unknown>(['other'], [[valid.audience]], `${valid.audience} `, null, 5),
      ),
    ),
    expiresInSeconds: usually(3_600, lifetimes),
    validInSeconds: usually(0, lifetimes),
    subject: usually(
      valid.subject,
      fc.constantFrom<unknown>('system:serviceaccount:ns:other', 'admin', '', undefined, null),
    ),
    uid: fc.constantFrom(valid.uid, valid.uid, valid.uid, 'old-uid'),
    pod: fc.constantFrom('none', 'none', 'existing', 'deleted'),
    paddingLength: fc.oneof(
      { weight: 30, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.nat(100_000) },
    ),
  });
}

export function encodedPart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The signature with the key, by the algorithm of the key. */
export function signature(input: string, { algorithm, privateKey }: TokenKey): string {
  const key =
    algorithm === 'ES256'
      ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const }
      : { key: privateKey };
  return sign('sha256', Buffer.from(input), key).toString('base64url');
}

/** Key confusion: an HMAC with the public key, which everyone knows, as its secret. */
export function confusedSignature(input: string, publicKey: KeyObject): string {
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  return createHmac('sha256', pem).update(input).digest('base64url');
}

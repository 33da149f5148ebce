/** Bearer tokens: refused with 401 unless the model finds each claim and the signature valid. */
import assert from 'node:assert/strict';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { StatusError } from '@orch/apimachinery';
import { dialect, Metrics } from '@orch/component';
import {
  AuthenticationMetrics,
  type AuthenticationRequest,
  type Authenticator,
  ServiceAccountTokens,
  serviceAccountKeys,
  type User,
} from '@orch/security';
import fc from 'fast-check';
import { ServiceAccountAuthenticator } from '../../../libs/security/src/authentication/service-account-authenticator.js';
import { bearerTokens } from '../../../libs/security/src/authentication/token-authenticator.js';
import { damagedText } from '../inputs/bytes.js';
import { hostileText } from '../inputs/text.js';
import {
  confusedSignature,
  encodedPart,
  signature,
  type TokenKey,
  type TokenPlan,
  tokenPlans,
} from '../inputs/tokens.js';
import { asyncTarget, type Target } from '../target.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const nowSeconds = nowMs / 1_000;
const toleranceSeconds = 60;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, setTimer: () => ({ cancel() {} }) };
const valid = {
  issuer: 'https://cluster.example',
  audience: 'api',
  subject: 'system:serviceaccount:ns:builder',
  uid: 'account-uid',
};
const existingPod = { name: 'p', uid: 'pod-uid' };
const uids: Readonly<Record<string, string>> = {
  'serviceaccounts/ns/builder': valid.uid,
  'pods/ns/p': existingPod.uid,
};

type Keys = Readonly<Record<'own rsa' | 'own ec' | 'foreign rsa' | 'foreign ec', TokenKey>>;
let keys: Keys | undefined;
let authenticate: Authenticator | undefined;

const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

async function open(): Promise<() => Promise<void>> {
  const pems = { 'own rsa': pemOf(rsaKey()), 'own ec': pemOf(ecKey()) };
  const believed = serviceAccountKeys({ path: 'rsa.pem', pem: pems['own rsa'] }, [
    {
      path: 'ec.pem',
      pem: createPublicKey(pems['own ec']).export({ type: 'spki', format: 'pem' }).toString(),
    },
  ]);
  const idOf = (algorithm: string) =>
    [...believed.believed.values()].find((key) => key.algorithm === algorithm)!.id;
  const keyOf = (pem: string, algorithm: TokenKey['algorithm']): TokenKey => ({
    id: idOf(algorithm),
    algorithm,
    privateKey: createPrivateKey(pem),
    publicKey: createPublicKey(pem),
  });
  // A foreign key claims the id of a believed one.
  keys = {
    'own rsa': keyOf(pems['own rsa'], 'RS256'),
    'own ec': keyOf(pems['own ec'], 'ES256'),
    'foreign rsa': keyOf(pemOf(rsaKey()), 'RS256'),
    'foreign ec': keyOf(pemOf(ecKey()), 'ES256'),
  };
  const tokens = new ServiceAccountTokens({
    keys: believed,
    issuer: valid.issuer,
    apiAudiences: [valid.audience],
    lifetimes: { secondsMax: 0, extendExpiration: false },
    clock,
  });
  const accounts = new ServiceAccountAuthenticator({
    tokens,
    exists: async (plural, namespace, name, matches) => {
      const uid = uids[`${plural}/${namespace}/${name}`];
      return uid !== undefined && matches({ metadata: { name, namespace, uid } });
    },
    lookup: true,
    clock,
    observer: new AuthenticationMetrics(new Metrics()).tokenCache,
  });
  authenticate = bearerTokens(
    (token, audiences) => accounts.authenticate(token, audiences),
    [valid.audience],
  );
  return async () => {
    keys = undefined;
    authenticate = undefined;
  };
}

/** The key whose id and algorithm the token names. */
function namedKey({ signer }: TokenPlan): TokenKey {
  const { 'own rsa': rsa } = keys!;
  return signer === 'none' || signer === 'public key' ? rsa : keys![signer];
}

function headerOf(plan: TokenPlan): Record<string, unknown> {
  const key = namedKey(plan);
  const own: Readonly<Record<string, string>> = { none: 'none', 'public key': 'HS256' };
  const other = key.algorithm === 'RS256' ? keys!['own ec'] : keys!['own rsa'];
  const { keyId } = plan;
  return {
    alg: plan.algorithm ?? own[plan.signer] ?? key.algorithm,
    ...(keyId === 'right' && { kid: key.id }),
    ...(keyId === 'other' && { kid: other.id }),
    ...(typeof keyId === 'object' && { kid: keyId.text }),
    ...plan.header,
  };
}

const secondsFrom = (offset: unknown) =>
  typeof offset === 'number' ? nowSeconds + offset : offset;

function claimsOf(plan: TokenPlan): Record<string, unknown> {
  const pod = plan.pod === 'existing' ? existingPod : { name: 'q', uid: 'q-uid' };
  return {
    iss: plan.issuer,
    aud: plan.audience,
    exp: secondsFrom(plan.expiresInSeconds),
    nbf: secondsFrom(plan.validInSeconds),
    sub: plan.subject,
    [dialect().keyDomain]: {
      namespace: 'ns',
      serviceaccount: { name: 'builder', uid: plan.uid },
      ...(plan.pod !== 'none' && { pod }),
    },
    ...(plan.paddingLength > 0 && { padding: 'x'.repeat(plan.paddingLength) }),
  };
}

function tokenOf(plan: TokenPlan): string {
  const input = `${encodedPart(headerOf(plan))}.${encodedPart(claimsOf(plan))}`;
  if (plan.signer === 'none') return `${input}.`;
  if (plan.signer === 'public key') {
    return `${input}.${confusedSignature(input, keys!['own rsa'].publicKey)}`;
  }
  return `${input}.${signature(input, keys![plan.signer])}`;
}

/** The model: every condition of a valid token, by the words of the documentation. */
function isValid(plan: TokenPlan): boolean {
  const { alg, kid, crit } = headerOf(plan);
  const { iss, aud, exp, nbf, sub } = claimsOf(plan);
  const key = namedKey(plan);
  return (
    (plan.signer === 'own rsa' || plan.signer === 'own ec') &&
    alg === key.algorithm &&
    kid === key.id &&
    crit === undefined &&
    iss === valid.issuer &&
    [aud].flat().includes(valid.audience) &&
    typeof exp === 'number' &&
    exp > nowSeconds - toleranceSeconds &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= nowSeconds + toleranceSeconds)) &&
    sub === valid.subject &&
    plan.uid === valid.uid &&
    plan.pod !== 'deleted'
  );
}

/** The user, or undefined for 401. Every other error is a fault. */
async function userOf(token: string): Promise<User | undefined> {
  const request = { headers: { authorization: `Bearer ${token}` } };
  try {
    return await authenticate!(request as unknown as AuthenticationRequest);
  } catch (error) {
    if (error instanceof StatusError && error.code === 401) return undefined;
    throw error;
  }
}

const plans = tokenPlans(valid);

const forgedTokens = asyncTarget(
  'forged-tokens',
  plans,
  async (plan) => {
    const user = await userOf(tokenOf(plan));
    assert.equal(user !== undefined, isValid(plan));
    if (user) assert.equal(user.name, valid.subject);
  },
  { open },
);

/** Damage to a token changes no claim: it proves the same user as before, or is refused. */
const damagedTokens = asyncTarget(
  'damaged-tokens',
  fc.oneof(
    plans.chain((plan) =>
      damagedText(
        fc.constant(plan).map((fixed) => (keys ? tokenOf(fixed) : '')),
        ['.', '..', 'e30', 'eyJhbGciOiJub25lIn0', '=', ' '],
      ).map((token) => ({ plan, token })),
    ),
    hostileText.map((token) => ({ plan: undefined, token })),
  ),
  async ({ plan, token }) => {
    const user = await userOf(token);
    if (!user) return;
    assert.ok(plan && isValid(plan));
    assert.equal(user.name, valid.subject);
  },
  { open },
);

export const tokenTargets: readonly Target[] = [forgedTokens, damagedTokens];

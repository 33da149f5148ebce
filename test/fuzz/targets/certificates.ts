/**
 * Client certificates, over real TLS connections and as read from a connection, and certificate
 * signing requests.
 */
import assert from 'node:assert/strict';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { StatusError } from '@orch/apimachinery';
import type { AuthenticationRequest, User } from '@orch/security';
import fc from 'fast-check';
import {
  certificatesProblem,
  requestedSubject,
  requestProblem,
} from '../../../libs/api/src/certificates/request.js';
import { clientCertificates } from '../../../libs/security/src/authentication/client-certificates.js';
import { damagedBytes, damagedText } from '../inputs/bytes.js';
import {
  type CertificatePlan,
  certificatePlans,
  commonNamesOf,
  Issuer,
  organizationsOf,
} from '../inputs/certificates.js';
import { hostileText } from '../inputs/text.js';
import { asyncTarget, type Target, target } from '../target.js';

const clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: () => ({ cancel() {} }),
};
const observer = { certificateUsed() {} };
const handshakeTimeoutMs = 10_000;

/** The user, `none` without a certificate, or undefined for 401. Other errors are faults. */
async function userOf(socket: object): Promise<User | 'none' | undefined> {
  const authenticate = clientCertificates({
    authorities: { signed: () => true, version: 1 },
    clock,
    observer,
  });
  try {
    const user = await authenticate({ headers: {}, socket } as unknown as AuthenticationRequest);
    return user ?? 'none';
  } catch (error) {
    if (error instanceof StatusError && error.code === 401) return undefined;
    throw error;
  }
}

function checkUser(user: User, commonNames: readonly string[], organizations: readonly string[]) {
  assert.equal(user.name, commonNames.at(-1));
  const expected = organizations.includes('system:authenticated')
    ? organizations
    : [...organizations, 'system:authenticated'];
  assert.deepEqual([...user.groups].sort(), [...expected].sort());
}

let issuer: Issuer | undefined;
let server: Server | undefined;
let port = 0;

async function open(): Promise<() => Promise<void>> {
  issuer = await Issuer.create();
  server = createServer({
    cert: issuer.serverPem,
    key: issuer.keyPem,
    ca: issuer.authorityPem,
    requestCert: true,
    rejectUnauthorized: false,
  });
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  port = (server.address() as { port: number }).port;
  return async () => {
    await new Promise((done) => server!.close(done));
    issuer = undefined;
  };
}

/** The server's side of a connection with the certificate, and a function that closes it. */
async function connected(certificatePem: string): Promise<[TLSSocket, () => void]> {
  const accepted = new Promise<TLSSocket>((done) => server!.once('secureConnection', done));
  const client = connect({
    ...{ host: '127.0.0.1', port, cert: certificatePem, key: issuer!.keyPem },
    ...{ rejectUnauthorized: false, timeout: handshakeTimeoutMs },
  });
  const failed = new Promise<never>((_, fail) => {
    client.once('error', fail);
    client.once('timeout', () => fail(new Error('the handshake does not end')));
  });
  const socket = await Promise.race([accepted, failed]);
  client.on('error', () => client.destroy());
  return [socket, () => client.destroy()];
}

function isValid({ signer, validity, usage, subject }: CertificatePlan): boolean {
  return (
    signer === 'authority' &&
    validity === 'now' &&
    usage !== 'server' &&
    (commonNamesOf(subject).at(-1) ?? '') !== ''
  );
}

const clientCertificateConnections = asyncTarget(
  'client-certificates',
  certificatePlans,
  async (plan) => {
    const [socket, close] = await connected(await issuer!.certificate(plan));
    try {
      const user = await userOf(socket);
      assert.notEqual(user, 'none');
      assert.equal(user !== undefined, isValid(plan));
      if (user && user !== 'none') {
        checkUser(user, commonNamesOf(plan.subject), organizationsOf(plan.subject));
      }
    } finally {
      close();
    }
  },
  { open, share: 0.02 },
);

const values = fc.oneof<fc.Arbitrary<string | string[] | undefined>[]>(
  fc.constant(undefined),
  hostileText,
  fc.array(hostileText, { maxLength: 3 }),
);

/** Subjects in every form in which the platform reports them: a text, or a list of several. */
const certificateSubjects = asyncTarget(
  'certificate-names',
  fc.record({
    authorized: fc.nat(3).map((number) => number > 0),
    commonName: values,
    organization: values,
    validTo: fc.oneof(fc.constant('Jan  1 00:00:00 2027 GMT'), hostileText),
  }),
  async ({ authorized, commonName, organization, validTo }) => {
    const subject = {
      ...(commonName !== undefined && { CN: commonName }),
      ...(organization !== undefined && { O: organization }),
    };
    const user = await userOf({
      authorized,
      getPeerCertificate: () => ({ subject, valid_to: validTo }),
    });
    const commonNames = [commonName ?? []].flat();
    const isNamed = (commonNames.at(-1) ?? '') !== '';
    const isCurrent = Date.parse(validTo) > clock.nowMs();
    assert.equal(user !== undefined, authorized && isNamed && isCurrent);
    if (user && user !== 'none') checkUser(user, commonNames, [organization ?? []].flat());
  },
);

/** Valid requests, as DER. */
const requestPool: { readonly der: Buffer; readonly encoded: string }[] = [];

async function openRequests(): Promise<() => Promise<void>> {
  const of = await Issuer.create();
  const plans = fc.sample(certificatePlans, { numRuns: 40, seed: 1 });
  for (const [index, plan] of plans.entries()) {
    const der = await of.request(plan, index % 4 === 0 ? 'rsa' : 'ec');
    requestPool.push({ der, encoded: encodedPem(der) });
  }
  return async () => {
    requestPool.length = 0;
  };
}

function encodedPem(der: Buffer, type = 'CERTIFICATE REQUEST'): string {
  return Buffer.from(pemText(der, type)).toString('base64');
}

function pemText(der: Buffer, type = 'CERTIFICATE REQUEST'): string {
  const lines = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  return `-----BEGIN ${type}-----\n${lines}\n-----END ${type}-----\n`;
}

const poolIndex = fc.nat(0xffff);
const pooled = (index: number) =>
  requestPool.length > 0 ? requestPool[index % requestPool.length]! : undefined;
const blockTypes = ['CERTIFICATE REQUEST', 'CERTIFICATE', 'PRIVATE KEY', ''] as const;

const sentRequest = poolIndex.chain((index) => {
  const der = fc.constant(index).map((fixed) => pooled(fixed)?.der ?? Buffer.alloc(0));
  const tokens = [Buffer.from([0x30, 0x80]), Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])];
  const encoded = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(damagedBytes(der, tokens), fc.constantFrom(...blockTypes, blockTypes[0]))
        .map(([bytes, type]) => encodedPem(bytes, type)),
    },
    {
      weight: 3,
      arbitrary: damagedText(
        der.map((bytes) => pemText(bytes)),
        ['-----BEGIN CERTIFICATE REQUEST-----\n', '-----END', 'Proc-Type: 4,ENCRYPTED\n'],
      ).map((text) => Buffer.from(text).toString('base64')),
    },
    { weight: 1, arbitrary: hostileText },
  );
  return fc.record({ index: fc.constant(index), encoded });
});

/** A request whose signature is accepted has the subject that was signed. */
const signingRequests = target(
  'signing-requests',
  sentRequest,
  ({ index, encoded }) => {
    const problem = requestProblem(encoded);
    assert.notEqual(problem, '');
    const subject = requestedSubject(encoded);
    certificatesProblem(encoded);
    const original = pooled(index)!;
    if (problem === undefined) assert.deepEqual(subject, requestedSubject(original.encoded));
    if (encoded === original.encoded) assert.equal(problem, undefined);
  },
  { open: openRequests },
);

export const certificateTargets: readonly Target[] = [
  clientCertificateConnections,
  certificateSubjects,
  signingRequests,
];

import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, resources } from '@orch/client';
import {
  createAuthority,
  createCertificateRequest,
  createKeyPem,
  type KeyPairPem,
  systemClock,
} from '@orch/component';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { csrApprovingController } from './csr-approving-controller.js';
import { csrCleanerController } from './csr-cleaner-controller.js';
import { csrSigningController } from './csr-signing-controller.js';

const hourMs = 3_600_000;
const csrs = resources.certificateSigningRequests;
const nodeSigner = 'orch.io/orch-apiserver-client-kubelet';
const clientUsages = ['key encipherment', 'digital signature', 'client auth'];

let directory: string;
let authority: KeyPairPem;
let nodeRequest: string;
let harness: ControllerHarness;

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function pkcs10(commonName: string, organization: string): Promise<string> {
  const names = { commonName, organizations: [organization] };
  return base64(await createCertificateRequest(await createKeyPem(), names));
}

function put({ certificatePem, keyPem }: KeyPairPem): void {
  writeFileSync(join(directory, 'ca.crt'), certificatePem);
  writeFileSync(join(directory, 'ca.key'), keyPem);
}

const signingFlags = () => [
  `--cluster-signing-cert-file=${join(directory, 'ca.crt')}`,
  `--cluster-signing-key-file=${join(directory, 'ca.key')}`,
];

beforeAll(async () => {
  nodeRequest = await pkcs10('system:node:n1', 'system:nodes');
  authority = await createAuthority('ca', 100 * 365 * 24 * hourMs, systemClock);
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-signing-'));
  put(authority);
});
afterEach(async () => {
  await harness.stop();
  rmSync(directory, { recursive: true, force: true });
});

function seed(
  name: string,
  spec: Partial<CertificateSigningRequest['spec']> = {},
  ...conditions: string[]
): void {
  harness.server.seed(csrs, {
    metadata: { name },
    spec: {
      request: nodeRequest,
      signerName: nodeSigner,
      usages: clientUsages,
      username: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers'],
      ...spec,
    },
    status: {
      conditions: conditions.map((type) => ({
        type,
        status: 'True' as const,
        lastUpdateTime: new Date(harness.clock.nowMs()).toISOString(),
      })),
    },
  });
}

const stored = (name: string) => harness.server.get(csrs, name);
const reasons = (name: string) =>
  stored(name)?.status?.conditions?.map(({ type, reason }) => `${type} ${reason ?? ''}`.trim());

function certificateOf(name: string): X509Certificate | undefined {
  const text = stored(name)?.status?.certificate;
  return text === undefined ? undefined : new X509Certificate(Buffer.from(text, 'base64'));
}

describe('csrApprovingController', () => {
  beforeEach(async () => {
    harness = new ControllerHarness([csrApprovingController]);
    await harness.start();
  });

  it('approves the request of a permitted creator, by the review of its identity', async () => {
    const reviewed: unknown[] = [];
    harness.server.allows = (spec) => {
      reviewed.push(spec);
      return true;
    };
    seed('new', { uid: 'u', extra: { a: ['b'] } });
    await harness.settle();
    expect(stored('new')?.status?.conditions).toEqual([
      {
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      },
    ]);
    expect(reviewed).toEqual([
      {
        user: 'system:bootstrap:abcdef',
        uid: 'u',
        groups: ['system:bootstrappers'],
        extra: { a: ['b'] },
        resourceAttributes: {
          group: 'certificates.orch.io',
          version: '*',
          resource: 'certificatesigningrequests',
          subresource: 'nodeclient',
          verb: 'create',
        },
      },
    ]);
  });

  it('approves the renewal of a node by itself', async () => {
    harness.server.allows = ({ resourceAttributes }) =>
      resourceAttributes?.subresource === 'selfnodeclient';
    seed('renewal', { username: 'system:node:n1' });
    seed('of-another', { username: 'system:node:n2' });
    await harness.settle();
    expect(stored('renewal')?.status?.conditions?.[0]?.message).toBe(
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    );
    expect(reasons('of-another')).toEqual([]);
  });

  it('waits for the permission, without a hot loop', async () => {
    let reviewCount = 0;
    harness.server.allows = () => {
      reviewCount += 1;
      return false;
    };
    seed('waiting');
    await harness.advance(64_000);
    expect(reasons('waiting')).toEqual([]);
    expect(reviewCount).toBeLessThan(12);
    harness.server.allows = () => true;
    await harness.advance(70_000);
    expect(reasons('waiting')).toEqual(['Approved AutoApproved']);
  });

  it('leaves forged, foreign and unreadable requests alone', async () => {
    harness.server.allows = () => true;
    seed('masters', { request: await pkcs10('system:node:n1', 'system:masters') });
    seed('user', { request: await pkcs10('admin', 'system:nodes') });
    seed('signer', { signerName: 'example.com/own' });
    seed('usages', { usages: ['server auth'] });
    seed('garbage', { request: base64('garbage') });
    seed('denied', {}, 'Denied');
    await harness.advance(10_000);
    const undecided = ['masters', 'user', 'signer', 'usages', 'garbage'];
    expect(undecided.flatMap((name) => reasons(name))).toEqual([]);
    expect(reasons('denied')).toEqual(['Denied']);
  });

  it('retries after a conflict with another writer', async () => {
    harness.server.allows = () => true;
    harness.server.interceptNext('PUT', csrs, () => {
      harness.server.change(csrs, 'raced', (request) => ({
        ...request,
        metadata: { ...request.metadata, labels: { a: 'b' } },
      }));
    });
    seed('raced');
    await harness.settle();
    expect(reasons('raced')).toEqual(['Approved AutoApproved']);
  });
});

describe('csrSigningController', () => {
  async function start(...flags: string[]): Promise<void> {
    harness = new ControllerHarness([csrSigningController], { flags });
    await harness.start();
  }

  it('signs approved requests, for the duration of the flag', async () => {
    await start(...signingFlags(), '--cluster-signing-duration=30m');
    seed('pending');
    seed('approved', {}, 'Approved');
    await harness.settle();
    expect(certificateOf('pending')).toBeUndefined();
    const certificate = certificateOf('approved');
    expect(certificate?.subject).toBe('O=system:nodes\nCN=system:node:n1');
    expect(certificate?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    const { validFrom = '', validTo = '' } = certificate ?? {};
    expect(Date.parse(validTo) - Date.parse(validFrom)).toBe(30 * 60_000);
    expect(reasons('approved')).toEqual(['Approved']);
  });

  it('fails what its signer never accepts, once', async () => {
    await start(...signingFlags());
    seed('names', { request: await pkcs10('carol', 'dev') }, 'Approved');
    seed('usages', { usages: ['client auth', 'cert sign'] }, 'Approved');
    seed('garbage', { request: base64('garbage') }, 'Approved');
    await harness.settle();
    for (const name of ['names', 'usages', 'garbage']) {
      expect(reasons(name)).toEqual(['Approved', 'Failed SignerValidationFailure']);
      expect(certificateOf(name)).toBeUndefined();
    }
    expect(stored('names')?.status?.conditions?.[1]?.message).toBe(
      'subject organization is not system:nodes',
    );
    const count = harness.server.requests.length;
    await harness.advance(60_000);
    expect(harness.server.requests).toHaveLength(count);
  });

  it('does not sign denied, failed and foreign requests', async () => {
    await start(...signingFlags());
    seed('denied', {}, 'Denied');
    seed('both', {}, 'Approved', 'Denied');
    seed('failed', {}, 'Approved', 'Failed');
    seed('foreign', { signerName: 'example.com/own' }, 'Approved');
    await harness.settle();
    for (const name of ['denied', 'both', 'failed', 'foreign']) {
      expect(certificateOf(name)).toBeUndefined();
    }
  });

  it('signs with a rotated authority, and with the old one while half of it is written', async () => {
    await start(...signingFlags());
    const next = await createAuthority('next', 100 * 365 * 24 * hourMs, systemClock);
    writeFileSync(join(directory, 'ca.crt'), next.certificatePem);
    seed('half', {}, 'Approved');
    await harness.settle();
    expect(certificateOf('half')?.issuer).toBe('CN=ca');
    put(next);
    seed('whole', {}, 'Approved');
    await harness.settle();
    expect(certificateOf('whole')?.issuer).toBe('CN=next');
  });

  it('signs only for the signers that have a certificate', async () => {
    const [certificate = '', key = ''] = signingFlags();
    await start(
      certificate.replace('signing-', 'signing-kubelet-client-'),
      key.replace('signing-', 'signing-kubelet-client-'),
    );
    seed('node', {}, 'Approved');
    seed('client', { signerName: 'orch.io/orch-apiserver-client' }, 'Approved');
    await harness.settle();
    expect(certificateOf('node')).toBeDefined();
    expect(certificateOf('client')).toBeUndefined();
  });

  it('refuses files and flags that do not belong together', async () => {
    const other = await createAuthority('other', hourMs, systemClock);
    writeFileSync(join(directory, 'ca.key'), other.keyPem);
    await expect(start(...signingFlags())).rejects.toThrow(/ca.key is not the key of .*ca.crt/);
    const flags = [
      ['--cluster-signing-cert-file=a'],
      ['--cluster-signing-orch-apiserver-client-key-file=a'],
      [...signingFlags(), ...signingFlags().map((flag) => flag.replace('g-', 'g-legacy-unknown-'))],
    ];
    for (const wrong of flags) {
      expect(() => new ControllerHarness([], { flags: wrong })).toThrow(/together|same time/);
    }
  });
});

describe('csrCleanerController', () => {
  beforeEach(async () => {
    harness = new ControllerHarness([csrCleanerController]);
    await harness.start();
  });
  const names = () => harness.names(csrs);

  it('deletes requests an hour after they were completed, and pending ones after a day', async () => {
    seed('pending');
    seed('denied', {}, 'Denied');
    seed('failed', {}, 'Approved', 'Failed');
    seed('approved', {}, 'Approved');
    seed('issued', {}, 'Approved');
    harness.server.change(csrs, 'issued', (request) => ({
      ...request,
      status: { ...request.status, certificate: base64(authority.certificatePem) },
    }));
    await harness.settle();
    await harness.clock.advance(hourMs - 10_000);
    await harness.settle();
    expect(names()).toHaveLength(5);
    await harness.clock.advance(20_000);
    await harness.settle();
    expect(names()).toEqual(['approved', 'pending']);
    await harness.clock.advance(23 * hourMs);
    await harness.settle();
    expect(names()).toEqual(['approved']);
  });

  it('deletes a request when its certificate expires, even if it is unreadable', async () => {
    const short = await createAuthority('short', 60_000, harness.clock);
    for (const [name, text] of [
      ['short', short.certificatePem],
      ['garbage', 'garbage'],
    ] as const) {
      seed(name, {}, 'Approved');
      harness.server.change(csrs, name, (request) => ({
        ...request,
        status: { ...request.status, certificate: base64(text) },
      }));
    }
    await harness.settle();
    await harness.clock.advance(70_000);
    await harness.settle();
    expect(names()).toEqual(['garbage']);
  });

  it('retries when the deletion fails', async () => {
    harness.server.interceptNext('DELETE', csrs, () => {
      throw new ApiError(500, 'InternalError', 'no leader');
    });
    seed('denied', {}, 'Denied');
    await harness.clock.advance(hourMs + 1_000);
    await harness.advance(2_000);
    expect(names()).toEqual([]);
  });
});

import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resources } from '@orch/client';
import {
  createAuthority,
  type KeyPairPem,
  Metrics,
  signCertificateRequest,
  systemClock,
} from '@orch/component';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { eventually, quietLogger } from '../../../client/test/support.js';
import { CertificateManager } from './certificate-manager.js';
import { CertificateStore } from './certificate-store.js';
import { clientCertificate, nodeUser } from './node-certificates.js';
import { requestCertificate } from './request-certificate.js';
import { renewalMs } from './rotation-plan.js';

const hourMs = 3_600_000;
const csrs = resources.certificateSigningRequests;
const wanted = clientCertificate('n1');

let authority: KeyPairPem;
let directory: string;
let server: MemoryApiServer;
let client: MemoryApiClient;
let store: CertificateStore;
let stopping: AbortController;

beforeAll(async () => {
  authority = await createAuthority('ca', hourMs, systemClock);
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-certificates-'));
  server = new MemoryApiServer();
  client = new MemoryApiClient(server);
  store = new CertificateStore(join(directory, 'pki'), 'kubelet-client', systemClock);
  stopping = new AbortController();
});
afterEach(() => {
  stopping.abort(new Error('the test has ended'));
  rmSync(directory, { recursive: true, force: true });
});

function request(keyPem: string, timeoutMs = 10_000): Promise<string> {
  const { signal } = stopping;
  return requestCertificate(
    { client, clock: systemClock, logger: quietLogger, signal },
    wanted,
    keyPem,
    timeoutMs,
  );
}

const pending = () => server.list(csrs).filter(({ status }) => status === undefined);

function complete(status: CertificateSigningRequest['status']): void {
  const [first] = pending();
  server.change(csrs, first?.metadata?.name ?? '', (object) => ({ ...object, status }));
}

async function sign(validMs = hourMs): Promise<void> {
  await eventually('a request', () => pending().length > 0);
  const spec = pending()[0]?.spec;
  const pem = Buffer.from(spec?.request ?? '', 'base64').toString();
  const options = { usages: spec?.usages ?? [], validMs };
  const certificate = await signCertificateRequest(authority, pem, options, systemClock);
  complete({ certificate: Buffer.from(certificate).toString('base64') });
}

describe('requestCertificate', () => {
  it('resolves with the signed certificate of the node', async () => {
    const signed = request(await store.pendingKey());
    await sign();
    expect(new X509Certificate(await signed).subject).toBe('O=system:nodes\nCN=system:node:n1');
    expect(server.list(csrs)[0]?.spec).toMatchObject({
      signerName: 'orch.io/orch-apiserver-client-kubelet',
      usages: ['digital signature', 'key encipherment', 'client auth'],
    });
  });

  it('continues the request of the same key, also after a restart', async () => {
    const key = await store.pendingKey();
    await expect(request(key, 50)).rejects.toThrow(/node-csr-/);
    const restarted = new CertificateStore(join(directory, 'pki'), 'kubelet-client', systemClock);
    const signed = request(await restarted.pendingKey());
    await sign();
    await signed;
    expect(server.list(csrs)).toHaveLength(1);
  });

  it.each(['Denied', 'Failed'])('rejects when the request is %s', async (type) => {
    const outcome = expect(request(await store.pendingKey())).rejects.toThrow(
      /is (denied|rejected by its signer), reason: r, message: m/,
    );
    await eventually('a request', () => pending().length > 0);
    complete({ conditions: [{ type, status: 'True', reason: 'r', message: 'm' }] });
    await outcome;
  });

  it('rejects a certificate of another key', async () => {
    const outcome = expect(request(await store.pendingKey())).rejects.toThrow(/is not usable/);
    await eventually('a request', () => pending().length > 0);
    complete({ certificate: Buffer.from(authority.certificatePem).toString('base64') });
    await outcome;
  });
});

describe('CertificateStore', () => {
  async function issued(validMs = hourMs): Promise<KeyPairPem> {
    const keyPem = await store.pendingKey();
    const signed = request(keyPem);
    await sign(validMs);
    return { certificatePem: await signed, keyPem };
  }

  it('stores certificate and key in one file of mode 0600', async () => {
    store.save(await issued());
    expect(statSync(store.path).mode & 0o777).toBe(0o600);
    expect(existsSync(join(directory, 'pki', 'kubelet-client.key.tmp'))).toBe(false);
    const pair = store.current(nodeUser('n1'));
    expect(pair?.keyPem).toContain('PRIVATE KEY');
    expect(new X509Certificate(pair?.certificatePem ?? '').issuer).toBe('CN=ca');
  });

  it('ignores certificates that are broken, expired or of another node', async () => {
    store.save(await issued());
    expect(store.current(nodeUser('n2'))).toBeUndefined();
    const later = { ...systemClock, nowMs: () => Date.now() + 2 * hourMs };
    const aged = new CertificateStore(join(directory, 'pki'), 'kubelet-client', later);
    expect(aged.current(nodeUser('n1'))).toBeUndefined();
    writeFileSync(store.path, readFileSync(store.path, 'utf8').slice(0, 300));
    expect(store.current(nodeUser('n1'))).toBeUndefined();
  });

  it('replaces a pending key that is broken', async () => {
    const key = await store.pendingKey();
    expect(await store.pendingKey()).toBe(key);
    writeFileSync(join(directory, 'pki', 'kubelet-client.key.tmp'), 'garbage');
    expect(await store.pendingKey()).not.toBe(key);
  });
});

describe('CertificateManager', () => {
  it('renews between 70% and 90% of the lifetime', () => {
    expect(renewalMs({ fromMs: 1_000, toMs: 2_000 }, 0)).toBe(1_700);
    expect(renewalMs({ fromMs: 1_000, toMs: 2_000 }, 0.999)).toBeLessThan(1_900);
  });

  it('requests, stores and presents certificates, one after the other', async () => {
    const metrics = new Metrics();
    const presented: KeyPairPem[] = [];
    const manager = new CertificateManager({
      store,
      current: undefined,
      request: (keyPem) => request(keyPem),
      onRotated: (pair) => presented.push(pair),
      metrics,
      metricNames: { ttl: 'test_ttl_seconds', errors: 'test_errors_total' },
      clock: systemClock,
      logger: quietLogger,
      random: () => 0,
    });
    expect(manager.isValid).toBe(false);
    manager.start();
    await sign(4_000);
    await eventually('the first certificate', () => presented.length === 1);
    expect(manager.isValid).toBe(true);
    await sign();
    await eventually('the second certificate', () => presented.length === 2);
    expect(presented[1]).toEqual(store.current(nodeUser('n1')));
    const ttl = /^test_ttl_seconds (\d+)/m.exec(await metrics.render())?.[1];
    expect(Number(ttl)).toBeGreaterThan(3_000);
    await manager.stop();
    expect(pending()).toEqual([]);
  });
});

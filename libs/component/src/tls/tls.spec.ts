import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../clock.js';
import { ensureAuthority, ensureCertificate, ensureSelfSigned } from './certificate-files.js';
import type { KeyPairPem } from './certificate-request.js';
import { serverTlsOptions } from './tls-options.js';

const dayMs = 86_400_000;
const server = {
  commonName: 'orch-apiserver',
  hosts: ['localhost', '127.0.0.1', '::1'],
  usages: ['server'],
  validMs: 365 * dayMs,
} as const;
const later = (ms: number): Clock => ({ ...systemClock, nowMs: () => Date.now() + ms });

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-tls-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const authority = (clock: Clock = systemClock) =>
  ensureAuthority(directory, 'ca', 'orch-ca', 3650 * dayMs, clock);

async function whoCalls(pair: KeyPairPem, client: KeyPairPem, caPem: string): Promise<string> {
  const listener = createServer(
    serverTlsOptions({ pair, clientAuthoritiesPem: caPem, minVersion: 'VersionTLS12' }),
    (incoming, response) => {
      const socket = incoming.socket as TLSSocket;
      const subject = socket.getPeerCertificate().subject as { CN: string; O: string | string[] };
      response.end(`${socket.authorized} ${subject.CN} ${subject.O} ${socket.getCipher().name}`);
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  try {
    return await new Promise((resolve, reject) => {
      const { port } = listener.address() as AddressInfo;
      request(
        { port, host: '127.0.0.1', ca: caPem, cert: client.certificatePem, key: client.keyPem },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => {
            text += part;
          });
          response.on('end', () => resolve(text));
        },
      )
        .on('error', reject)
        .end();
    });
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

describe('certificates', () => {
  it('authenticate server and client to each other', async () => {
    const ca = await authority();
    const pair = await ensureCertificate(directory, 'server', ca, server, systemClock);
    const client = await ensureCertificate(
      directory,
      'node',
      ca,
      {
        commonName: 'system:node:n1',
        organizations: ['system:nodes', 'other, group'],
        usages: ['client'],
        validMs: dayMs,
      },
      systemClock,
    );
    expect(await whoCalls(pair, client, ca.certificatePem)).toBe(
      'true system:node:n1 system:nodes,other, group TLS_AES_128_GCM_SHA256',
    );
    expect(statSync(join(directory, 'server.key')).mode & 0o777).toBe(0o600);
  });

  it('are reused while usable, and renewed near expiry or for other hosts', async () => {
    const ca = await authority();
    const first = await ensureCertificate(directory, 'server', ca, server, systemClock);
    const again = await ensureCertificate(directory, 'server', ca, server, systemClock);
    expect(again).toEqual(first);
    const renewed = await ensureCertificate(directory, 'server', ca, server, later(300 * dayMs));
    expect(renewed.certificatePem).not.toBe(first.certificatePem);
    const wider = await ensureCertificate(
      directory,
      'server',
      ca,
      { ...server, hosts: [...server.hosts, '10.96.0.1'] },
      systemClock,
    );
    expect(new X509Certificate(wider.certificatePem).checkIP('10.96.0.1')).toBe('10.96.0.1');
  });

  it('are issued again when the stored one has other groups', async () => {
    const ca = await authority();
    const request = { commonName: 'client', usages: ['client' as const], validMs: dayMs };
    const privileged = { ...request, organizations: ['system:masters'] };
    await ensureCertificate(directory, 'client', ca, privileged, systemClock);
    const pair = await ensureCertificate(directory, 'client', ca, request, systemClock);
    expect(new X509Certificate(pair.certificatePem).subject).toBe('CN=client');
    expect(await ensureCertificate(directory, 'client', ca, request, systemClock)).toEqual(pair);
  });

  it('are issued again for another authority', async () => {
    const ca = await authority();
    const first = await ensureCertificate(directory, 'server', ca, server, systemClock);
    rmSync(join(directory, 'ca.crt'));
    await expect(authority()).rejects.toThrow(/ca.crt is missing/);
    rmSync(join(directory, 'ca.key'));
    const second = await ensureCertificate(
      directory,
      'server',
      await authority(),
      server,
      systemClock,
    );
    expect(second.certificatePem).not.toBe(first.certificatePem);
  });

  it('are not issued by an expired authority', async () => {
    await authority();
    await expect(authority(later(4000 * dayMs))).rejects.toThrow(/expired on/);
  });

  it('can be self-signed', async () => {
    const pair = await ensureSelfSigned(directory, 'self', server, systemClock);
    expect(await ensureSelfSigned(directory, 'self', server, systemClock)).toEqual(pair);
    expect(new X509Certificate(pair.certificatePem).checkHost('localhost')).toBe('localhost');
  });
});

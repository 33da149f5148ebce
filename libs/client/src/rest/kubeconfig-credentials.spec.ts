import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import {
  createAuthority,
  issueCertificate,
  type KeyPairPem,
  singleKubeconfig,
  systemClock,
  writeKubeconfig,
} from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quietLogger } from '../../test/support.js';
import { KubeconfigCredentials } from './kubeconfig-credentials.js';
import { RestClient } from './rest-client.js';

const hourMs = 3_600_000;

describe('KubeconfigCredentials', () => {
  let directory: string;
  let path: string;
  let authority: KeyPairPem;
  let serving: KeyPairPem;
  let server: Server;
  let url: string;
  let credentials: KubeconfigCredentials;
  let client: RestClient;
  let endStreams: (() => void)[] = [];

  const issue = (commonName: string, usage: 'server' | 'client', by = authority) =>
    issueCertificate(
      by,
      { commonName, hosts: ['127.0.0.1'], usages: [usage], validMs: hourMs },
      systemClock,
    );

  const put = (
    pair: KeyPairPem,
    { ca = authority, token }: { ca?: KeyPairPem; token?: string } = {},
  ) =>
    writeKubeconfig(
      path,
      singleKubeconfig({
        clusterName: 'c',
        userName: 'u',
        servers: [url],
        certificateAuthorityPem: ca.certificatePem,
        clientCertificatePem: pair.certificatePem,
        clientKeyPem: pair.keyPem,
        ...(token !== undefined && { token }),
      }),
    );

  const whoAmI = async (one = client) => (await one.request('GET', '/whoami')).body.toString();

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'credentials-'));
    path = join(directory, 'kubeconfig');
    authority = await createAuthority('ca', hourMs, systemClock);
    serving = await issue('server', 'server');
    endStreams = [];
    server = createServer(
      {
        cert: serving.certificatePem,
        key: serving.keyPem,
        ca: authority.certificatePem,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate();
        const text = `${subject?.CN ?? 'nobody'} ${request.headers.authorization ?? ''}`.trim();
        if (request.url !== '/stream') return void response.end(text);
        response.write(text);
        endStreams.push(() => response.end(' end'));
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    put(await issue('first', 'client'));
    credentials = new KubeconfigCredentials({ path, clock: systemClock, logger: quietLogger });
    client = new RestClient({ ...credentials.clientOptions(), requestTimeoutMs: 5_000 });
    credentials.follow(client);
  });

  afterEach(async () => {
    credentials.stop();
    await client.close();
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('presents a new certificate on new connections, and lets a stream continue', async () => {
    const stream = await client.stream('GET', '/stream');
    const derived = client.derive({ userAgent: 'other' });
    expect(await whoAmI()).toBe('first');
    put(await issue('second', 'client'));
    await credentials.poll();
    expect([await whoAmI(), await whoAmI(derived)]).toEqual(['second', 'second']);
    for (const end of endStreams) end();
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.body) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('first end');
  });

  it('replaces nothing while nothing changes', async () => {
    let replacedCount = 0;
    credentials.follow({ useTls: () => (replacedCount += 1) });
    await credentials.poll();
    expect(replacedCount).toBe(0);
    put(await issue('second', 'client'));
    await credentials.poll();
    expect(replacedCount).toBe(1);
  });

  it('ignores a file that is missing, broken or half rotated, until it is complete', async () => {
    const next = await issue('next', 'client');
    put({ certificatePem: next.certificatePem, keyPem: serving.keyPem });
    await credentials.poll();
    expect(await whoAmI()).toBe('first');
    writeFileSync(path, 'garbage: [');
    await credentials.poll();
    rmSync(path);
    await credentials.poll();
    expect(await whoAmI()).toBe('first');
    put(next);
    await credentials.poll();
    expect(await whoAmI()).toBe('next');
  });

  it('presents a given certificate, whatever the kubeconfig contains', async () => {
    credentials.present(await issue('rotated', 'client'));
    expect(await whoAmI()).toBe('rotated');
    put(await issue('second', 'client'));
    await credentials.poll();
    expect(await whoAmI()).toBe('rotated');
  });

  it('verifies servers by new authorities, also without credentials of its own', async () => {
    const anonymous = client.withoutCredentials();
    expect(await whoAmI(anonymous)).toBe('nobody');
    const other = await createAuthority('other', hourMs, systemClock);
    const { certificatePem, keyPem } = await issue('server', 'server', other);
    server.setSecureContext({ cert: certificatePem, key: keyPem });
    put(await issue('first', 'client'), { ca: other });
    await credentials.poll();
    expect(await whoAmI()).toBe('first');
    expect(await whoAmI(anonymous)).toBe('nobody');
    await anonymous.close();
  });

  it('sends a changed token', async () => {
    const pair = await issue('first', 'client');
    put(pair, { token: 'one' });
    await credentials.poll();
    expect(await whoAmI()).toBe('first Bearer one');
    put(pair, { token: 'two' });
    await credentials.poll();
    expect(await whoAmI()).toBe('first Bearer two');
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.js';
import { ConnectProxy } from '../testing/connect-proxy.js';
import type { KeyPairPem } from '../tls/certificate-request.js';
import { createAuthority, issueCertificate } from '../tls/pki.js';
import { httpAgent, httpsAgent } from './dialing-agent.js';
import { dialThroughHttpConnect, type ProxyTransport } from './http-connect.js';

const validMs = 3_600_000;
const directory = mkdtempSync(join(tmpdir(), 'orch-egress-'));

describe('dialThroughHttpConnect', () => {
  let authority: KeyPairPem;
  let serving: KeyPairPem;
  let client: KeyPairPem;
  let backend: Server;
  let plain: ReturnType<typeof createHttpServer>;
  const observed: string[] = [];
  const observer = {
    opened: (seconds: number) => observed.push(seconds >= 0 ? 'opened' : 'negative'),
    failed: (stage: string) => observed.push(stage),
  };
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const dialing = (transport: ProxyTransport) =>
    dialThroughHttpConnect({ transport, observer, clock: systemClock });

  beforeAll(async () => {
    authority = await createAuthority('authority', validMs, systemClock);
    const issue = (usage: 'server' | 'client', hosts: string[]) =>
      issueCertificate(
        authority,
        { commonName: usage, hosts, usages: [usage], validMs },
        systemClock,
      );
    serving = await issue('server', ['127.0.0.1', 'backend']);
    client = await issue('client', []);
    const listener = (_request: IncomingMessage, response: { end(text: string): unknown }) =>
      response.end('reached');
    backend = createServer({ cert: serving.certificatePem, key: serving.keyPem }, listener);
    plain = createHttpServer(listener);
    for (const server of [backend, plain]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
  });

  afterAll(() => {
    backend.close();
    plain.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function readBackend(transport: ProxyTransport): Promise<string> {
    observed.length = 0;
    const agent = httpsAgent(
      { ca: authority.certificatePem, servername: 'backend' },
      dialing(transport),
    );
    const port = portOf(backend);
    const request = httpsRequest({ host: '127.0.0.1', port, path: '/', agent }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return text(response);
  }

  it.each(['tcp', 'tcp with TLS', 'uds'])('opens TLS connections over %s', async (kind) => {
    const path = join(directory, 'proxy.sock');
    const tls = {
      cert: serving.certificatePem,
      key: serving.keyPem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
    };
    const proxy = await ConnectProxy.listen(
      kind === 'uds' ? path : undefined,
      kind === 'tcp with TLS' ? tls : undefined,
    );
    try {
      const tcp = () => ({ kind: 'tcp', host: '127.0.0.1', port: proxy.port }) as const;
      const credentials = {
        ca: authority.certificatePem,
        cert: client.certificatePem,
        key: client.keyPem,
      };
      const transport: ProxyTransport =
        kind === 'uds'
          ? { kind: 'uds', path }
          : { ...tcp(), ...(kind === 'tcp with TLS' && { tls: credentials }) };
      expect(await readBackend(transport)).toBe('reached');
      expect(proxy.targets).toEqual([`127.0.0.1:${portOf(backend)}`]);
      expect(observed).toEqual(['opened']);
    } finally {
      await proxy.close();
    }
  });

  it('opens plain connections', async () => {
    const proxy = await ConnectProxy.listen();
    try {
      const agent = httpAgent({}, dialing({ kind: 'tcp', host: '127.0.0.1', port: proxy.port }));
      const request = httpRequest({ host: '127.0.0.1', port: portOf(plain), agent }).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      expect(await text(response)).toBe('reached');
      expect(proxy.targets).toEqual([`127.0.0.1:${portOf(plain)}`]);
    } finally {
      await proxy.close();
    }
  });

  it('reports a proxy that refuses or cannot be reached', async () => {
    const proxy = await ConnectProxy.listen();
    const transport = { kind: 'tcp', host: '127.0.0.1', port: proxy.port } as const;
    proxy.statusCode = 403;
    await expect(readBackend(transport)).rejects.toThrow(
      `the proxy 127.0.0.1:${proxy.port} opens no connection to 127.0.0.1:${portOf(backend)}: status 403 Refused`,
    );
    expect(observed).toEqual(['proxy']);
    await proxy.close();
    await expect(readBackend(transport)).rejects.toThrow(
      /^cannot connect to the proxy 127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    );
    expect(observed).toEqual(['connect']);
    const path = join(directory, 'missing.sock');
    await expect(readBackend({ kind: 'uds', path })).rejects.toThrow(
      `cannot connect to the proxy ${path}: connect ENOENT`,
    );
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connectionOf,
  createAuthority,
  issueCertificate,
  singleKubeconfig,
  systemClock,
  writeKubeconfig,
} from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestApiServer } from '../../test/test-api-server.js';
import { restClientOptions } from './from-connection.js';
import { RestClient } from './rest-client.js';
import { TransportError } from './transport-error.js';

const hourMs = 3_600_000;
const pods = { group: 'core', version: 'v1', plural: 'pods' };

describe('a client from a kubeconfig', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'client-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('authenticates by certificate to a server whose certificate it verifies', async () => {
    const authority = await createAuthority('ca', hourMs, systemClock);
    const issue = (commonName: string, usages: ('server' | 'client')[]) =>
      issueCertificate(
        authority,
        { commonName, hosts: usages[0] === 'server' ? ['127.0.0.1'] : [], usages, validMs: hourMs },
        systemClock,
      );
    const serving = await issue('server', ['server']);
    const client = await issue('admin', ['client']);
    const server = new TestApiServer({
      tls: {
        cert: serving.certificatePem,
        key: serving.keyPem,
        ca: authority.certificatePem,
        requestCert: true,
        rejectUnauthorized: true,
      },
    });
    const url = await server.start();
    const path = join(directory, 'kubeconfig');
    const config = singleKubeconfig({
      clusterName: 'c',
      userName: 'u',
      servers: [url],
      certificateAuthorityPem: authority.certificatePem,
      clientCertificatePem: client.certificatePem,
      clientKeyPem: client.keyPem,
    });
    writeKubeconfig(path, config);
    const trusted = new RestClient(restClientOptions(connectionOf(path)));
    const { ca: _authority, ...options } = restClientOptions(connectionOf(path));
    const wary = new RestClient({ ...options, requestTimeoutMs: 200 });
    await trusted.resource(pods, 'n').create({ metadata: { name: 'p' } });
    await expect(wary.resource(pods, 'n').get('p')).rejects.toMatchObject({
      code: 'connect_failed',
    });
    // The server closes connections without a client certificate.
    const anonymous = trusted.withoutCredentials();
    const refused = anonymous.request('GET', '/api/v1/pods', { sendOnce: true });
    await expect(refused).rejects.toBeInstanceOf(TransportError);
    await Promise.all([trusted.close(), wary.close(), anonymous.close()]);
    await server.stop();
  });

  it('reads a token from its file', async () => {
    const tokenFile = join(directory, 'token');
    writeFileSync(tokenFile, 'secret\n');
    const server = new TestApiServer();
    const options = restClientOptions({ server: await server.start(), tokenFile });
    const client = new RestClient(options);
    await client.request('GET', '/api/v1/pods');
    expect(server.requests[0]?.headers.authorization).toBe('Bearer secret');
    await client.close();
    await server.stop();
  });
});

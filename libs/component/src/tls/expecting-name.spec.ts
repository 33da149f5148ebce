import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.js';
import { ensureSelfSigned } from './certificate-files.js';
import { expectingName } from './expecting-name.js';

let directory: string;
let server: Server;
let ca: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'orch-name-'));
  const pair = await ensureSelfSigned(
    directory,
    'server',
    {
      commonName: 'server',
      hosts: ['api.test', '10.0.0.1'],
      usages: ['server'],
      validMs: 3_600_000,
    },
    systemClock,
  );
  ca = pair.certificatePem;
  server = createServer({ cert: ca, key: pair.keyPem }, (socket) => {
    socket.end(String(socket.servername));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

/** Resolves with the name in the handshake; rejects if the certificate is not accepted. */
async function nameSent(name: string): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca, ...expectingName(name) });
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

describe('a client that expects', () => {
  it('a name sends it, and accepts a certificate for it', async () => {
    expect(await nameSent('api.test')).toBe('api.test');
    await expect(nameSent('other.test')).rejects.toThrow('altnames');
  });

  it('an address sends no name, and accepts a certificate for the address', async () => {
    expect(await nameSent('10.0.0.1')).toBe('false');
    await expect(nameSent('127.0.0.1')).rejects.toThrow('IP: 127.0.0.1');
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { singleKubeconfig, writeKubeconfig } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GlobalOptions } from '../command-line/global-options.js';
import { openSession } from './session.js';

describe('openSession with several API servers', () => {
  let directory: string;
  let kubeconfig: string;
  let servers: Server[];
  let urls: string[];
  let requestCounts: number[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orchctl-session-'));
    kubeconfig = join(directory, 'kubeconfig');
    requestCounts = [0, 0];
    servers = [0, 1].map((index) =>
      createServer((_request, response) => {
        requestCounts[index]! += 1;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ kind: 'APIGroupList', groups: [{ name: 'apps.orch.io' }] }));
      }),
    );
    urls = await Promise.all(servers.map(listen));
    const names = { clusterName: 'c', userName: 'u' };
    writeKubeconfig(
      kubeconfig,
      singleKubeconfig({ ...names, servers: urls, certificateAuthorityPem: '' }),
    );
  });

  afterEach(async () => {
    for (const server of servers) await stop(server);
    rmSync(directory, { recursive: true });
  });

  async function open(globals: GlobalOptions) {
    const session = await openSession({ kubeconfig, requestTimeout: '2s', ...globals });
    await session.client.close();
    return session;
  }

  it('opens while one of them is unavailable', async () => {
    await stop(servers[0]!);
    // The order of the servers is random, and the unavailable one must not cause an error.
    for (let round = 0; round < 10; round++) expect((await open({})).server).toBe(urls[0]);
    expect(requestCounts).toEqual([0, 10]);
  });

  it('uses only the server of --server', async () => {
    for (let round = 0; round < 10; round++) await open({ server: urls[1] });
    expect(requestCounts).toEqual([0, 10]);
    await stop(servers[1]!);
    const gone = open({ server: urls[1], requestTimeout: '200ms' });
    await expect(gone).rejects.toMatchObject({ code: 'connect_failed' });
    expect(requestCounts).toEqual([0, 10]);
  });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}

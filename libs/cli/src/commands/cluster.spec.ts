import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { singleKubeconfig, writeKubeconfig } from '@orch/component';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Io } from '../command-line/io.js';
import { CommandRun } from '../session/command-context.js';
import { configureCluster } from './cluster.js';

interface HashReport {
  readonly hash?: string;
  readonly reason?: string;
}

describe('cluster check', () => {
  let directory: string;
  let kubeconfig: string;
  let server: Server;
  let members: readonly HashReport[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orchctl-check-'));
    kubeconfig = join(directory, 'kubeconfig');
    server = createServer(({ url }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(url === '/cluster/check' ? checkResponse() : { groups: [] }));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const names = { clusterName: 'c', userName: 'u', certificateAuthorityPem: '' };
    writeKubeconfig(
      kubeconfig,
      singleKubeconfig({ ...names, servers: [`http://127.0.0.1:${port}`] }),
    );
  });

  afterEach(async () => {
    await new Promise((done) => server.close(done));
    rmSync(directory, { recursive: true });
  });

  function checkResponse() {
    const named = members.map((member, at) => ({ id: `${at}`, name: `replica-${at}`, ...member }));
    return { revision: 7, members: named };
  }

  async function check(...reports: HashReport[]) {
    members = reports;
    let out = '';
    let err = '';
    let code = 0;
    const io: Io = {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      readInput: () => Promise.reject(new Error('nothing is read')),
    };
    const context = new CommandRun(io, () => ({ kubeconfig }));
    const command = new Command('cluster').exitOverride();
    configureCluster(command, context);
    try {
      await command.parseAsync(['check'], { from: 'user' });
    } catch (error) {
      code = await context.report(error);
    } finally {
      await context.close();
    }
    const result = out.trimEnd().split('\n').at(-1)!.trim();
    return { code, result, err };
  }

  it('reports consistency when all replicas have the same hash', async () => {
    expect(await check({ hash: 'aa' }, { hash: 'aa' }, { hash: 'aa' })).toEqual({
      code: 0,
      result: 'consistent',
      err: '',
    });
  });

  it('distinguishes missing responses from different hashes', async () => {
    const silent = { reason: 'unreachable' };
    expect(await check({ hash: 'aa' }, silent, { hash: 'aa' })).toEqual({
      code: 124,
      result: 'incomplete',
      err: 'error: no response in time from replica-1\n',
    });
    const differ = { code: 1, result: 'NOT CONSISTENT', err: 'error: the replicas differ\n' };
    expect(await check({ hash: 'aa' }, { hash: 'bb' }, { hash: 'aa' })).toEqual(differ);
    expect(await check({ hash: 'aa' }, silent, { hash: 'bb' })).toEqual(differ);
  });
});

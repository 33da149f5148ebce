import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { singleKubeconfig, writeKubeconfig } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli.js';

interface Told {
  readonly hash?: string;
  readonly reason?: string;
}

describe('cluster check', () => {
  let directory: string;
  let kubeconfig: string;
  let server: Server;
  let members: readonly Told[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orchctl-check-'));
    kubeconfig = join(directory, 'kubeconfig');
    server = createServer(({ url }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(url === '/cluster/check' ? answer() : { groups: [] }));
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

  function answer() {
    const named = members.map((member, at) => ({ id: `${at}`, name: `replica-${at}`, ...member }));
    return { revision: 7, members: named };
  }

  async function check(...told: Told[]) {
    members = told;
    let out = '';
    let err = '';
    const code = await run(['cluster', 'check', '--kubeconfig', kubeconfig], {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      readInput: () => Promise.reject(new Error('nothing is read')),
    });
    const verdict = out.trimEnd().split('\n').at(-1)!.trim();
    return { code, verdict, err };
  }

  it('is content when all replicas tell the same hash', async () => {
    expect(await check({ hash: 'aa' }, { hash: 'aa' }, { hash: 'aa' })).toEqual({
      code: 0,
      verdict: 'consistent',
      err: '',
    });
  });

  it('tells replicas that have not answered from replicas that differ', async () => {
    const silent = { reason: 'unreachable' };
    expect(await check({ hash: 'aa' }, silent, { hash: 'aa' })).toEqual({
      code: 124,
      verdict: 'incomplete',
      err: 'error: no hash in time from replica-1\n',
    });
    const differ = { code: 1, verdict: 'NOT CONSISTENT', err: 'error: the replicas differ\n' };
    expect(await check({ hash: 'aa' }, { hash: 'bb' }, { hash: 'aa' })).toEqual(differ);
    expect(await check({ hash: 'aa' }, silent, { hash: 'bb' })).toEqual(differ);
  });
});

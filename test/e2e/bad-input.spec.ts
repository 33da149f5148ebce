/**
 * Mistakes of users on the command line: one clear line names cause and remedy, and nothing
 * changes.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stablePort } from '../chaos/support/ports.js';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { run } from './support/process.js';

const scratch = mkdtempSync(join(tmpdir(), 'orch-bad-input-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const up = (...args: string[]) => run('node', ['scripts/up.mjs', '--detach', ...args]);

/** Expects a failed command whose message helps a user, without a stack. */
function expectClearError(
  outcome: { code: number; stdout: string; stderr: string },
  ...parts: (string | RegExp)[]
): void {
  const said = outcome.stdout + outcome.stderr;
  expect(outcome.code).not.toBe(0);
  for (const part of parts) expect(said).toMatch(part);
  expect(said).not.toMatch(/^\s+at .+:\d+:\d+/m);
}

describe('up', () => {
  it('refuses unknown flags', async () => {
    expectClearError(await up('--dta-dir', scratch), /--dta-dir/);
  });

  it('refuses an unknown dialect and component', async () => {
    const directory = join(scratch, 'never');
    expectClearError(await up('--data-dir', directory, '--dialect', 'klingon'), /klingon/, /orch/);
    expectClearError(
      await up('--data-dir', directory, '--components', 'etcd'),
      /etcd/,
      /apiserver/,
    );
    expect(readdirSync(scratch)).not.toContain('never');
  });

  it('refuses a directory with other files, and does not change it', async () => {
    const directory = join(scratch, 'foreign');
    mkdirSync(directory);
    writeFileSync(join(directory, 'thesis.txt'), 'years of work');
    expectClearError(await up('--data-dir', directory), directory);
    expect(readdirSync(directory)).toEqual(['thesis.txt']);
  });

  it('refuses a data directory that is a file', async () => {
    const file = join(scratch, 'file');
    writeFileSync(file, 'x');
    expectClearError(await up('--data-dir', file), file);
    expect(readFileSync(file, 'utf8')).toBe('x');
  });

  describe('with its port in use', () => {
    let server: Server;
    let port: number;
    beforeAll(async () => {
      port = await stablePort();
      server = createServer().listen(port, '127.0.0.1');
      await new Promise((done) => server.once('listening', done));
    });
    afterAll(() => server.close());

    it('reports the port', async () => {
      const directory = join(scratch, 'port');
      expectClearError(
        await up('--data-dir', directory, '--port', String(port)),
        String(port),
        /in use/,
      );
    });
  });
});

describe('the API server', () => {
  it.each(['--client-ca-file', '--service-account-signing-key-file', '--token-auth-file'])(
    'logs one line at level fatal, and none at level error, when %s is missing',
    async (flag) => {
      const missing = join(scratch, 'missing.pem');
      const [directory, port] = [join(scratch, flag), String(await stablePort())];
      const main = 'dist/apps/apiserver/src/main.js';
      const args = [main, '--data-dir', directory, '--secure-port', port, flag, missing];
      const outcome = await run('node', [...args, '--bind-address', '127.0.0.1']);
      expectClearError(outcome, `cannot read ${missing}: ENOENT`);
      const lines = (outcome.stdout + outcome.stderr).split('\n');
      expect(lines.filter((line) => / (?:ERROR|FATAL) /.test(line))).toHaveLength(1);
      expect(lines.filter((line) => line.includes('stack='))).toEqual([]);
    },
  );
});

describe('orchctl and the API', () => {
  const cluster = new Cluster({ dialect: 'orch', replicas: 1, components: 'apiserver' });
  let api: Api;
  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
  });
  afterAll(async () => {
    await api?.close();
    await cluster.destroy();
  });

  it('names a missing manifest file', async () => {
    const outcome = await cluster.orchctl(['apply', '-f', join(scratch, 'missing.yaml')]);
    expectClearError(outcome, /missing\.yaml/);
  });

  it('refuses unknown flags, resources and names with one line', async () => {
    expectClearError(await cluster.orchctl(['get', 'pods', '--colour']), /--colour/);
    expectClearError(await cluster.orchctl(['get', 'unicorns']), /unicorns/);
    expectClearError(
      await cluster.orchctl(['get', 'pod', 'nobody']),
      /NotFound.*"nobody" not found/,
    );
    expectClearError(
      await cluster.orchctl(['get', 'pods', '-l', 'a in (']),
      /unable to parse requirement/,
    );
  });

  it('refuses another dialect for an existing cluster', async () => {
    await cluster.down();
    const other = await up('--data-dir', cluster.dataDirectory, '--dialect', 'kubernetes');
    expectClearError(other, /orch/, /kubernetes/);
    await cluster.up();
  });

  it.each([
    ['a body that is not JSON', '{"metadata":', 400],
    ['another kind', JSON.stringify({ kind: 'Pod', apiVersion: 'v1' }), 400],
    ['no name', JSON.stringify({ metadata: {} }), 422],
    ['a bad name', JSON.stringify({ metadata: { name: 'Not_A_Name' } }), 422],
    [
      'too much',
      JSON.stringify({ metadata: { name: 'x' }, data: { a: 'x'.repeat(4 << 20) } }),
      413,
    ],
  ])('refuses %s with a Status', async (_what, body, status) => {
    const answer = await api.send('POST', '/api/v1/namespaces/default/configmaps', body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
  });

  it('refuses an unknown media type and a stale version', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const typed = await api.send('POST', path, 'hello', 'text/html');
    expect(typed.status).toBe(415);
    const made = await api.call<{ metadata: object }>('POST', path, {
      metadata: { name: 'stale' },
    });
    expect(made.status).toBe(201);
    const { body: changed } = await api.call('PUT', `${path}/stale`, {
      ...made.body,
      data: { a: '1' },
    });
    const again = await api.call('PUT', `${path}/stale`, { ...made.body, data: { a: '2' } });
    expect(again.status).toBe(409);
    expect((await api.call('GET', `${path}/stale`)).body).toEqual(changed);
  });
});

import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionOf, readKubeconfig } from '@orch/component';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GlobalOptions } from '../command-line/global-options.js';
import type { Io } from '../command-line/io.js';
import { CommandRun } from '../session/command-context.js';
import { configureConfig } from './config.js';

describe('config', () => {
  let directory: string;
  let kubeconfig: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orchctl-config-'));
    kubeconfig = join(directory, 'sub', 'kubeconfig');
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  async function config(args: string[], globals: GlobalOptions = {}) {
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
    const context = new CommandRun(io, () => ({ kubeconfig, ...globals }));
    const command = new Command('config').exitOverride().configureOutput({ writeErr: io.err });
    configureConfig(command, context);
    try {
      await command.parseAsync(args, { from: 'user' });
    } catch (error) {
      code = await context.report(error);
    }
    return { code, out, err };
  }

  function file(name: string, content: string): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  }

  async function fill() {
    await config(['set-cluster', 'c'], { server: 'https://host:1' });
    await config(['set-credentials', 'ann'], { token: 'very-secret' });
    await config(['set-context', 'first', '--cluster=c', '--user=ann'], { namespace: 'ns' });
    await config(['use-context', 'first']);
  }

  it('creates a file that only its owner reads, with a usable context', async () => {
    expect(await config(['set-cluster', 'c'], { server: 'https://host:1/' })).toEqual({
      code: 0,
      out: 'Cluster "c" set.\n',
      err: '',
    });
    await fill();
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    expect(connectionOf(kubeconfig)).toMatchObject({
      server: 'https://host:1',
      token: 'very-secret',
      namespace: 'ns',
    });
  });

  it('lists, changes and deletes contexts and users', async () => {
    await fill();
    const change = ['set-context', '--current', '--user=bob'];
    expect((await config(change)).out).toBe('Context "first" modified.\n');
    expect((await config(['set-context', 'second'])).out).toBe('Context "second" created.\n');
    expect((await config(['get-contexts'])).out).toBe(
      'CURRENT   NAME     CLUSTER   AUTHINFO   NAMESPACE\n' +
        '*         first    c         bob        ns\n' +
        '          second\n',
    );
    expect((await config(['get-contexts', '-o', 'name'])).out).toBe('first\nsecond\n');
    expect((await config(['get-users'])).out).toBe('NAME\nann\n');
    expect((await config(['delete-user', 'ann'])).out).toBe(
      `deleted user ann from ${kubeconfig}\n`,
    );
    expect((await config(['get-users'])).out).toBe('NAME\n');
    const deleted = await config(['delete-context', 'first']);
    expect(deleted.err).toContain('this removed your active context');
    expect((await config(['get-contexts', '-o', 'name'])).out).toBe('second\n');
  });

  it('sets properties and shows values at a path', async () => {
    await fill();
    expect(await config(['set', 'contexts.first.namespace', 'n'])).toEqual({
      code: 0,
      out: 'Property "contexts.first.namespace" set.\n',
      err: '',
    });
    const shown = await config(['view', '-o', 'jsonpath={.contexts[0].context.namespace}']);
    expect(shown).toMatchObject({ code: 0, out: 'n' });
    expect(await config(['set', 'users.ann', 'x'])).toMatchObject({ code: 1, out: '' });
    expect(await config(['view', '-o', 'wide'])).toMatchObject({ code: 2, out: '' });
    await config(['set', 'users.ann.client-key-data', 'k', '--set-raw-bytes']);
    expect((await config(['view', '--raw'])).out).toContain('client-key-data: aw==');
  });

  it('reports missing entries and changes nothing', async () => {
    await fill();
    const before = readFileSync(kubeconfig, 'utf8');
    for (const [args, message] of [
      [['use-context', 'x'], 'no context exists with the name: "x"'],
      [['delete-context', 'x'], `cannot delete context x, not in ${kubeconfig}`],
      [['delete-user', 'x'], `cannot delete user x, not in ${kubeconfig}`],
      [['get-contexts', 'x'], 'context x not found'],
    ] as const) {
      expect(await config([...args])).toEqual({ code: 1, out: '', err: `error: ${message}\n` });
    }
    const both = await config(['set-credentials', 'ann', '--username=a'], { token: 't' });
    expect(both).toMatchObject({ code: 2, out: '' });
    const missing = ['set-credentials', 'ann', '--client-key=/none', '--embed-certs'];
    expect(await config(missing)).toMatchObject({ code: 2, out: '' });
    expect(await config(['set-credentials', 'ann', '--embed-certs'])).toMatchObject({ code: 2 });
    expect(await config(['set-cluster', 'c'], { server: 'host' })).toMatchObject({ code: 2 });
    expect(await config(['set-context', 'first', '--current'])).toMatchObject({ code: 2 });
    expect(readFileSync(kubeconfig, 'utf8')).toBe(before);
    const absent = join(directory, 'absent');
    expect(await config(['delete-user', 'x'], { kubeconfig: absent })).toMatchObject({ code: 1 });
    expect(existsSync(absent)).toBe(false);
  });

  it('renames a context, also as the current one', async () => {
    await fill();
    await config(['set-context', 'second']);
    const absent = `cannot rename the context "x", it's not in ${kubeconfig}`;
    const taken = `cannot rename the context "first", the context "second" already exists in ${kubeconfig}`;
    for (const [args, message] of [
      [['x', 'y'], absent],
      [['first', 'second'], taken],
    ] as const) {
      const failed = { code: 1, out: '', err: `error: ${message}\n` };
      expect(await config(['rename-context', ...args])).toEqual(failed);
    }
    expect(await config(['rename-context', 'first', ''])).toMatchObject({ code: 2 });
    expect(await config(['rename-context', 'first', 'third'])).toEqual({
      code: 0,
      out: 'Context "first" renamed to "third".\n',
      err: '',
    });
    expect((await config(['current-context'])).out).toBe('third\n');
    await config(['rename-context', 'second', 'fourth']);
    expect((await config(['current-context'])).out).toBe('third\n');
    expect((await config(['get-contexts', '-o', 'name'])).out).toBe('fourth\nthird\n');
  });

  it('unsets properties of an existing file', async () => {
    await fill();
    expect(await config(['unset', 'contexts.first.namespace'])).toEqual({
      code: 0,
      out: 'Property "contexts.first.namespace" unset.\n',
      err: '',
    });
    const { contexts } = readKubeconfig(kubeconfig);
    expect(contexts).toEqual([{ name: 'first', context: { cluster: 'c', user: 'ann' } }]);
    await config(['unset', 'current-context']);
    expect(await config(['current-context'])).toMatchObject({ code: 1 });
    const before = readFileSync(kubeconfig, 'utf8');
    const failed = { code: 1, out: '', err: 'error: current map key `bob` is invalid\n' };
    expect(await config(['unset', 'users.bob.token'])).toEqual(failed);
    expect(readFileSync(kubeconfig, 'utf8')).toBe(before);
    const absent = join(directory, 'absent');
    expect(await config(['unset', 'users'], { kubeconfig: absent })).toMatchObject({ code: 1 });
    expect(existsSync(absent)).toBe(false);
  });

  it('stores certificates by path or by content, one at a time', async () => {
    const certificate = file('ann.crt', 'PEM 1');
    const key = file('ann.key', 'PEM 2');
    const flags = ['--client-certificate', certificate, '--client-key', key];
    const userOf = () => readKubeconfig(kubeconfig).users[0]?.user;
    await config(['set-credentials', 'ann', ...flags]);
    expect(userOf()).toEqual({ 'client-certificate': certificate, 'client-key': key });
    await config(['set-credentials', 'ann', ...flags, '--embed-certs']);
    expect(userOf()).toEqual({
      'client-certificate-data': Buffer.from('PEM 1').toString('base64'),
      'client-key-data': Buffer.from('PEM 2').toString('base64'),
    });
    await config(['set-cluster', 'c', '--embed-certs'], { certificateAuthority: certificate });
    await config(['set-cluster', 'c'], { insecureSkipTlsVerify: true });
    expect(readKubeconfig(kubeconfig).clusters[0]?.cluster).toEqual({
      server: '',
      'insecure-skip-tls-verify': true,
    });
  });

  it('replaces a token by a password and keeps other fields', async () => {
    file('k', 'users: [{name: ann, user: {tokenFile: t, as: eve, x-custom: 1}}]');
    kubeconfig = join(directory, 'k');
    await config(['set-credentials', 'ann', '--username=a', '--password=p']);
    const kept = { as: 'eve', 'x-custom': 1 };
    const userOf = () => readKubeconfig(kubeconfig).users[0]?.user;
    expect(userOf()).toEqual({ ...kept, username: 'a', password: 'p' });
    await config(['set-credentials', 'ann'], { token: 't' });
    expect(userOf()).toEqual({ ...kept, token: 't' });
  });

  it('forgets the other servers of a cluster when its address changes', async () => {
    const extension = '{name: endpoints, extension: {servers: ["https://old:2"]}}';
    const cluster = `{server: "https://old:1", extensions: [${extension}, {name: other}]}`;
    const text = `clusters: [{name: c, cluster: ${cluster}}]\n`;
    kubeconfig = file('k', `${text}contexts: [{name: x, context: {cluster: c, user: u}}]`);
    await config(['set-cluster', 'c'], { server: 'https://new' });
    expect(connectionOf(kubeconfig, 'x').servers).toEqual(['https://new']);
    expect(readKubeconfig(kubeconfig).clusters[0]?.cluster.extensions).toEqual([{ name: 'other' }]);
  });

  it('writes through a symbolic link', async () => {
    const target = file('target', 'users: []');
    kubeconfig = join(directory, 'link');
    symlinkSync(target, kubeconfig);
    await config(['set-credentials', 'ann'], { token: 't' });
    expect(lstatSync(kubeconfig).isSymbolicLink()).toBe(true);
    expect(readKubeconfig(target).users).toHaveLength(1);
  });

  it('shows secrets only with --raw', async () => {
    kubeconfig = file(
      'k',
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: 's', 'proxy-url': 'http://u:hidden1@p:1' } }],
        users: [
          { name: 'a', user: { token: 'hidden2', 'client-key-data': 'hidden3' } },
          { name: 'b', user: { username: 'shown1', password: 'hidden4' } },
          {
            name: 'e',
            user: {
              exec: {
                apiVersion: 'v1',
                command: 'shown2',
                env: [{ name: 'shown3', value: 'hidden5' }],
              },
              'auth-provider': { name: 'oidc', config: { 'id-token': 'hidden6' } },
            },
          },
        ],
      }),
    );
    for (const format of ['json', 'yaml']) {
      const shown = (await config(['view', '-o', format])).out;
      expect(shown.match(/hidden\d|shown\d/g)).toEqual(
        expect.arrayContaining(['shown1', 'shown2', 'shown3']),
      );
      expect(shown).not.toContain('hidden');
      const raw = (await config(['view', '-o', format, '--raw'])).out;
      expect(new Set(raw.match(/hidden\d/g)).size).toBe(6);
    }
  });
});

/** The commands about permissions, against a server that decides by roles. */
import { webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import type { Io } from '@orch/cli';
import { createAuthority, dialect, issueCertificate, systemClock } from '@orch/component';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from '../../apiserver/src/testing/running-server.js';
import { run } from './cli.js';

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const rbac = () => dialect().group('rbac.authorization');
const dayMs = 86_400_000;

describe('orchctl with roles', () => {
  let directory: string;
  let server: RunningServer;
  let signed: { certificate: string; key: string };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orchctl-access-'));
    const authority = await createAuthority('users', dayMs, systemClock);
    const pair = await issueCertificate(
      authority,
      {
        commonName: 'carol',
        organizations: ['dev', 'ops'],
        hosts: [],
        usages: ['client'],
        validMs: dayMs,
      },
      systemClock,
    );
    signed = {
      certificate: file('carol.crt', pair.certificatePem),
      key: file('carol.key', pair.keyPem),
    };
    const authorityFile = file('ca.crt', authority.certificatePem);
    server = await RunningServer.start(
      ['--authorization-mode=RBAC', `--client-ca-file=${authorityFile}`],
      { users: ['bob', 'eve'] },
    );
    for (const user of ['secret', 'bob', 'eve']) {
      await must('config', 'set-credentials', user, '--token', user);
      await must('config', 'set-context', user, '--cluster', 'c', '--user', user);
    }
    await must(
      ...['config', 'set-credentials', 'carol', '--embed-certs'],
      ...['--client-certificate', signed.certificate, '--client-key', signed.key],
    );
    await must('config', 'set-context', 'carol', '--cluster', 'c', '--user', 'carol');
    const address = `https://127.0.0.1:${server.port}`;
    await must('config', 'set-cluster', 'c', '--server', address, '--insecure-skip-tls-verify');
    await must('config', 'use-context', 'secret');
  }, 30_000);

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function file(name: string, content: string): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  }

  async function orchctl(...args: string[]): Promise<Result> {
    let out = '';
    let err = '';
    const io: Io = {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      readInput: () => Promise.reject(new Error('no command reads standard input')),
    };
    const code = await run(['--kubeconfig', join(directory, 'kubeconfig'), ...args], io);
    return { code, out, err };
  }

  async function must(...args: string[]): Promise<string> {
    const { code, out, err } = await orchctl(...args);
    if (code !== 0) throw new Error(`orchctl ${args.join(' ')}: ${code} ${err}`);
    return out;
  }

  const asBob = (...args: string[]) => orchctl('--context', 'bob', ...args);

  it('creates roles and bindings that change the result of can-i', async () => {
    const denied = await asBob('auth', 'can-i', 'get', 'deployments.apps/scale');
    expect(denied).toEqual({ code: 1, out: 'no\n', err: '' });
    const role = ['create', 'role', 'reader', '--verb=get,list', '--verb=watch'];
    const types = ['--resource=pods,pods/log', '--resource=deployments.apps', '--resource=*.batch'];
    expect(await must(...role, ...types)).toBe(`role.${rbac()}/reader created\n`);
    const binding = ['create', 'rolebinding', 'readers', '--role=reader', '--user=bob'];
    await must(...binding, '--serviceaccount=default:robot', '--group=dev');

    for (const question of [
      ['get', 'pods'],
      ['watch', 'pod', 'web'],
      ['get', 'pods/web', '--subresource=log'],
      ['list', 'deploy'],
      ['get', 'jobs'],
      ['get', '/healthz'],
    ]) {
      expect([question, await asBob('auth', 'can-i', ...question)]).toEqual([
        question,
        { code: 0, out: 'yes\n', err: '' },
      ]);
    }
    for (const question of [
      ['delete', 'pods'],
      ['get', 'pods', '--subresource=exec'],
      ['get', 'pods', '-A'],
      ['get', 'pods', '-n', 'orch-system'],
      ['get', '/metrics'],
    ]) {
      expect([question, await asBob('auth', 'can-i', ...question)]).toEqual([
        question,
        { code: 1, out: 'no\n', err: '' },
      ]);
    }
    expect(await asBob('auth', 'can-i', 'delete', 'pods', '-q')).toMatchObject({
      code: 1,
      out: '',
    });
    const robot = ['--as', 'system:serviceaccount:default:robot', 'auth', 'can-i', 'get', 'pods'];
    expect(await orchctl(...robot)).toMatchObject({ code: 0, out: 'yes\n' });
    const dev = [
      '--as',
      'x',
      '--as-group',
      'a',
      '--as-group',
      'dev',
      'auth',
      'can-i',
      'get',
      'pods',
    ];
    expect(await orchctl(...dev)).toMatchObject({ code: 0, out: 'yes\n' });
    expect(await orchctl('--as', 'x', 'auth', 'can-i', 'get', 'pods')).toMatchObject({ code: 1 });
  });

  it('warns about names that the server does not have', async () => {
    expect((await asBob('auth', 'can-i', 'frob', 'gears.example.com')).err).toBe(
      "Warning: the server doesn't have a resource type 'gears' in group 'example.com'\n" +
        "Warning: verb 'frob' is not a known verb\n",
    );
    expect((await asBob('auth', 'can-i', 'get', 'nodes')).err).toBe(
      "Warning: resource 'nodes' is not namespace scoped\n",
    );
    expect(await asBob('auth', 'can-i', 'impersonate', 'users')).toMatchObject({ err: '' });
  });

  it('lists the permissions of the user', async () => {
    await must('create', 'clusterrole', 'paths', '--verb=get', '--non-resource-url=/logs/*');
    await must(
      'create',
      'clusterrole',
      'one',
      '--verb=get',
      '--resource=nodes',
      '--resource-name=n',
    );
    for (const name of ['paths', 'one']) {
      await must('create', 'clusterrolebinding', name, `--clusterrole=${name}`, '--user=eve');
    }
    const { out } = await orchctl('--context', 'eve', 'auth', 'can-i', '--list');
    const lines = out.split('\n').map((line) => line.replace(/ +/g, ' '));
    expect(lines[0]).toBe('Resources Non-Resource URLs Resource Names Verbs');
    expect(lines).toContain('nodes [] [n] [get]');
    expect(lines).toContain(' [/logs/*] [] [get]');
    expect(lines.filter((line) => line.includes('[/healthz]'))).toHaveLength(1);
  });

  it('refuses to create permissions that the user does not have', async () => {
    await must('create', 'role', 'makers', '--verb=create', `--resource=roles.${rbac()}`);
    await must('create', 'rolebinding', 'makers', '--role=makers', '--user=bob');
    const role = await asBob('create', 'role', 'more', '--verb=get', '--resource=secrets');
    expect(role).toMatchObject({ code: 1, out: '' });
    expect(role.err).toContain('attempting to grant RBAC permissions not currently held');
  });

  it('prints objects without creating them in a dry run', async () => {
    const args = ['create', 'clusterrole', 'sum', '--aggregation-rule=a/b=c,d=e', '-o', 'json'];
    expect(JSON.parse(await must(...args, '--dry-run=client'))).toEqual({
      apiVersion: dialect().apiVersion('rbac.authorization', 'v1'),
      kind: 'ClusterRole',
      metadata: { name: 'sum' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'a/b': 'c', d: 'e' } }] },
    });
    expect(await must('create', 'sa', 'sum', '--dry-run=server')).toBe(
      'serviceaccount/sum created (server dry run)\n',
    );
    expect(await orchctl('get', 'sa', 'sum')).toMatchObject({ code: 1 });
  });

  it('requests tokens that authenticate the service account', async () => {
    await must('create', 'serviceaccount', 'robot');
    const token = (await must('create', 'token', 'robot', '--duration=20m')).trim();
    await must('config', 'set-credentials', 'robot', '--token', token);
    await must('config', 'set-context', 'robot', '--cluster=c', '--user=robot');
    expect(await orchctl('--context=robot', 'auth', 'whoami')).toEqual({
      code: 0,
      out:
        'ATTRIBUTE   VALUE\nUsername    system:serviceaccount:default:robot\n' +
        'Source      a denial of the server\n',
      err: 'Warning: the groups are not known: the user may not create a TokenReview of the bearer token\n',
    });
    const request = ['create', 'token', 'robot', '--audience=a', '--audience=b', '-o', 'json'];
    expect(JSON.parse(await must(...request)).spec.audiences).toEqual(['a', 'b']);
    expect((await orchctl('create', 'token', 'nobody')).err).toBe(
      'Error from server (NotFound): serviceaccounts "nobody" not found\n',
    );
    const bound = ['create', 'token', 'robot', '--bound-object-kind=Secret'];
    expect((await orchctl(...bound, '--bound-object-name=none')).err).toContain('"none" not found');
  });

  it('names the user and the source of the name', async () => {
    const whoami = async (...flags: string[]) =>
      JSON.parse(await must(...flags, 'auth', 'whoami', '-o', 'json'));
    expect(await whoami()).toEqual({
      userInfo: { username: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] },
      source: 'a TokenReview of the bearer token',
      notes: [],
    });
    expect(await whoami('--context=carol')).toEqual({
      userInfo: { username: 'carol', groups: ['dev', 'ops', 'system:authenticated'] },
      source: 'the subject of the client certificate',
      notes: [],
    });
    expect(await whoami('--as', 'ann', '--as-group', 'dev')).toMatchObject({
      userInfo: { username: 'ann', groups: ['dev'] },
      source: 'impersonation',
    });
    // A server rejects a token that it does not know, also if anonymous requests are allowed.
    const unknown = await orchctl('--token=unknown', 'auth', 'whoami');
    expect(unknown).toMatchObject({ code: 1, out: '' });
    expect(unknown.err).toContain('Unauthorized');
    const anonymous = ['config', 'set-context', 'anonymous', '--cluster=c', '--user=none'];
    await must(...anonymous);
    expect(await whoami('--context=anonymous')).toMatchObject({
      userInfo: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    });
  });

  it('approves and denies certificate signing requests', async () => {
    const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
    const keys = await webcrypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
    const request = await Pkcs10CertificateRequestGenerator.create(
      { name: 'CN=ann', keys: keys as never, signingAlgorithm },
      webcrypto as never,
    );
    const csr = Buffer.from(request.toString('pem')).toString('base64');
    await server.must(
      'POST',
      `/apis/${dialect().group('certificates')}/v1/certificatesigningrequests`,
      {
        metadata: { name: 'csr' },
        spec: { request: csr, signerName: `example.com/x`, usages: ['client auth'] },
      },
    );
    const title = `certificatesigningrequest.${dialect().group('certificates')}/csr`;
    expect((await asBob('certificate', 'approve', 'csr')).code).toBe(1);
    expect(await must('certificate', 'approve', 'csr')).toBe(`${title} approved\n`);
    expect(await must('certificate', 'approve', 'csr', '--force')).toBe(`${title} approved\n`);
    expect(await orchctl('certificate', 'deny', 'missing', 'csr')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/"missing" not found\n.*"csr" is already Approved\n$/s),
    });
    const shown = JSON.parse(await must('get', 'csr', 'csr', '-o', 'json'));
    expect(shown.status.conditions).toMatchObject([{ type: 'Approved', reason: 'OrchctlApprove' }]);
  });

  it('reconciles roles and bindings of a file, and keeps a binding that it may not replace', async () => {
    const meta = { name: 'shared', namespace: 'fresh' };
    const apiVersion = dialect().apiVersion('rbac.authorization', 'v1');
    const role = (verbs: string[]) => ({
      apiVersion,
      kind: 'Role',
      metadata: meta,
      rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
    });
    const binding = (name: string, user: string) => ({
      apiVersion,
      kind: 'RoleBinding',
      metadata: meta,
      roleRef: { kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: user }],
    });
    const path = (...items: object[]) =>
      file('rbac.yaml', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const reconcile = (...flags: string[]) =>
      orchctl('auth', 'reconcile', '-f', join(directory, 'rbac.yaml'), ...flags);

    path(role(['get']), binding('view', 'ann'));
    expect((await reconcile('--dry-run')).out).toBe(
      `role.${rbac()}/shared reconciled (dry run)\nrolebinding.${rbac()}/shared reconciled (dry run)\n`,
    );
    expect(await orchctl('get', 'ns', 'fresh')).toMatchObject({ code: 1 });
    expect((await reconcile()).code).toBe(0);
    expect(await reconcile()).toMatchObject({ code: 0, err: '' });

    path(role(['list']), binding('view', 'bob'));
    expect((await reconcile()).err).toContain('missing subjects added:\n\t\t{Kind:User');
    const stored = async (type: string) =>
      JSON.parse(await must('-n', 'fresh', 'get', type, 'shared', '-o', 'json'));
    const subjectNames = async () =>
      (await stored('rolebinding')).subjects.map(({ name }: { name: string }) => name);
    expect(await subjectNames()).toEqual(['ann', 'bob']);
    expect((await stored('role')).rules).toHaveLength(2);
    expect(
      (await reconcile('--remove-extra-permissions', '--remove-extra-subjects')).err,
    ).toContain('extra rules removed:\n\t\t{Verbs:[get] APIGroups:[] Resources:[pods]');
    expect(await subjectNames()).toEqual(['bob']);
    expect((await stored('role')).rules).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
    ]);

    await must('create', 'clusterrole', 'binder', '--verb=*', `--resource=rolebindings.${rbac()}`);
    await must('create', 'clusterrolebinding', 'binder', '--clusterrole=binder', '--user=bob');
    path(binding('cluster-admin', 'bob'));
    const args = ['auth', 'reconcile', '-f', join(directory, 'rbac.yaml')];
    expect((await asBob(...args)).err).toContain('attempting to grant RBAC permissions');
    expect((await stored('rolebinding')).roleRef.name).toBe('view');
    expect((await reconcile()).err).toContain('reconciliation required recreate');
    expect((await stored('rolebinding')).roleRef.name).toBe('cluster-admin');
  });
});

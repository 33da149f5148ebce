/** Options whose error only the start finds: each is an expected failure with one message. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSelfSigned, FatalError, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const scratch = mkdtempSync(join(tmpdir(), 'orch-bad-options-'));
const file = (name: string) => join(scratch, name);
const [missing, invalid, certificate, otherKey] = [
  ...[file('missing.pem'), file('invalid.pem'), file('certificate.pem'), file('other.key')],
] as const;

const cluster = ['a', 'b', 'c'].map((name, index) => `${name}=https://127.0.0.1:${index + 1}`);
const replicated = (cert: string, key: string, authorities: string) => [
  ...[`--initial-cluster=${cluster.join(',')}`, '--member-name=a'],
  ...['--listen-peer-url=https://127.0.0.1:1', `--peer-cert-file=${cert}`],
  ...[`--peer-key-file=${key}`, `--peer-trusted-ca-file=${authorities}`],
];
const etcd = ['--storage-backend=etcd3', '--etcd-servers=https://127.0.0.1:1'];
const audited = [`--audit-policy-file=${file('policy.yaml')}`];

describe('a bad option', () => {
  beforeAll(async () => {
    const pair = await ensureSelfSigned(
      scratch,
      'pair',
      { commonName: 'a', hosts: ['127.0.0.1'], usages: ['server', 'client'], validMs: 3_600_000 },
      systemClock,
    );
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    writeFileSync(certificate, pair.certificatePem);
    writeFileSync(otherKey, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(invalid, 'no PEM');
    writeFileSync(
      file('policy.yaml'),
      'apiVersion: audit.orch.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n',
    );
  });

  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  it.each([
    ['a missing token file', ['--token-auth-file', missing], `cannot read ${missing}: ENOENT`],
    ['an invalid token file', ['--token-auth-file', invalid], `${invalid} line 1: want at least`],
    ['a missing client CA', ['--client-ca-file', missing], `cannot read ${missing}: ENOENT`],
    [
      'the key of another certificate',
      [`--tls-cert-file=${certificate}`, `--tls-private-key-file=${otherKey}`],
      /^--tls-cert-file, --tls-private-key-file: .*key values mismatch$/,
    ],
    [
      'an invalid certificate',
      [`--tls-cert-file=${invalid}`, `--tls-private-key-file=${otherKey}`],
      /^--tls-cert-file, --tls-private-key-file: .*no start line$/,
    ],
    [
      'a missing signing key',
      ['--service-account-signing-key-file', missing],
      `cannot read ${missing}: ENOENT`,
    ],
    [
      'an invalid signing key',
      ['--service-account-signing-key-file', invalid],
      `${invalid} holds no usable PEM key`,
    ],
    [
      'a missing CA of node agents',
      ['--kubelet-certificate-authority', missing],
      `cannot read ${missing}: ENOENT`,
    ],
    [
      'a missing audit policy',
      ['--audit-policy-file', missing, '--audit-log-path=-'],
      `cannot read the audit policy ${missing}: ENOENT`,
    ],
    [
      'an audit log that is a directory',
      [...audited, `--audit-log-path=${scratch}`],
      'cannot open the audit log: EISDIR',
    ],
    [
      'an invalid kubeconfig of the audit webhook',
      [...audited, `--audit-webhook-config-file=${invalid}`],
      `kubeconfig ${invalid}`,
    ],
    [
      'a missing CA of etcd',
      [...etcd, `--etcd-cafile=${missing}`],
      `cannot read ${missing}: ENOENT`,
    ],
    [
      'the key of another certificate for etcd',
      [...etcd, `--etcd-certfile=${certificate}`, `--etcd-keyfile=${otherKey}`],
      /^--etcd-certfile, --etcd-keyfile: .*key values mismatch$/,
    ],
    [
      'a missing peer certificate',
      replicated(missing, otherKey, certificate),
      `${missing} cannot be read`,
    ],
    [
      'the key of another peer certificate',
      replicated(certificate, otherKey, certificate),
      `${otherKey} is not the key of`,
    ],
    [
      'an invalid CA of peers',
      replicated(certificate, otherKey, invalid),
      `${invalid} cannot be used`,
    ],
  ])('ends the start with one message: %s', async (_name, flags, message) => {
    const failure = await RunningServer.start(flags).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(FatalError);
    expect(failure).toHaveProperty('message', expect.stringMatching(toPattern(message)));
    // The message contains the cause; the log line of an expected failure has no stack.
    expect((failure as FatalError).cause).toBeUndefined();
  });
});

function toPattern(message: string | RegExp): RegExp {
  if (message instanceof RegExp) return message;
  return new RegExp(message.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}

import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, resources } from '@orch/client';
import { UsageError } from '@orch/component';
import type { Secret } from '@orch/types/core/v1';
import { jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { tokenController } from './token-controller.js';

const { accounts, secrets } = { accounts: resources.serviceAccounts, secrets: resources.secrets };
const type = 'orch.io/service-account-token';
const nameAnnotation = 'orch.io/service-account.name';
const uidAnnotation = 'orch.io/service-account.uid';

let directory: string;
let keyFile: string;
let pem: string;
let harness: ControllerHarness;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-tokens-'));
  keyFile = join(directory, 'service-account.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(keyFile, pem);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function harnessWith(path: string): ControllerHarness {
  const flags = [`--service-account-private-key-file=${path}`];
  return new ControllerHarness([tokenController], { flags, authorityPem: 'pem' });
}

const textOf = ({ data }: Secret, key: string) =>
  Buffer.from(data?.[key] ?? '', 'base64').toString();
const createAccount = (name: string) =>
  harness.client.resource(accounts, 'default').create({ metadata: { name } });
const createSecret = (name: string, annotations: Record<string, string>) =>
  harness.client.resource(secrets, 'default').create({ metadata: { name, annotations }, type });
const listed = (name: string) =>
  (harness.server.get(accounts, `default/${name}`)?.secrets ?? []).map((one) => one.name ?? '');
const names = () => harness.names(secrets, 'default');

describe('tokenController', () => {
  beforeEach(async () => {
    harness = harnessWith(keyFile);
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('creates a secret with a signed token for an account and lists it', async () => {
    const { metadata } = await createAccount('robot');
    await harness.settle();
    expect(names()).toEqual([expect.stringMatching(/^robot-token-[a-z0-9]{5}$/)]);
    expect(listed('robot')).toEqual(names());
    const secret = harness.server.get(secrets, `default/${names()[0]}`)!;
    expect(secret.type).toBe(type);
    expect(secret.metadata?.annotations).toEqual({
      [nameAnnotation]: 'robot',
      [uidAnnotation]: metadata?.uid,
    });
    expect([textOf(secret, 'ca.crt'), textOf(secret, 'namespace')]).toEqual(['pem', 'default']);
    const { payload } = await jwtVerify(textOf(secret, 'token'), createPublicKey(pem));
    expect(payload).toEqual({
      iss: 'orch/serviceaccount',
      sub: 'system:serviceaccount:default:robot',
      'orch.io/serviceaccount/namespace': 'default',
      'orch.io/serviceaccount/secret.name': names()[0],
      'orch.io/serviceaccount/service-account.name': 'robot',
      'orch.io/serviceaccount/service-account.uid': metadata?.uid,
    });
  });

  it('deletes the secrets of an account with it', async () => {
    await createAccount('robot');
    await createSecret('mine', { [nameAnnotation]: 'robot' });
    await harness.settle();
    expect(names()).toHaveLength(2);
    await harness.client.resource(accounts, 'default').delete('robot');
    await harness.settle();
    expect(names()).toEqual([]);
  });

  it('replaces a deleted secret under another name', async () => {
    await createAccount('robot');
    await harness.settle();
    const [old = ''] = names();
    await harness.client.resource(secrets, 'default').delete(old);
    await harness.settle();
    expect(names()).toHaveLength(1);
    expect(names()).not.toContain(old);
    expect(listed('robot')).toEqual(names());
  });

  it('fills a secret that names an account, and again when its token is removed', async () => {
    const { metadata } = await createAccount('robot');
    await createSecret('mine', { [nameAnnotation]: 'robot' });
    await harness.settle();
    const filled = () => harness.server.get(secrets, 'default/mine')!;
    expect(filled().metadata?.annotations?.[uidAnnotation]).toBe(metadata?.uid);
    expect(textOf(filled(), 'token')).not.toBe('');
    harness.server.change(secrets, 'default/mine', (secret) => ({ ...secret, data: {} }));
    await harness.settle();
    expect(textOf(filled(), 'token')).not.toBe('');
    expect(listed('robot')).not.toContain('mine');
  });

  it('deletes a secret that names a missing or an earlier account', async () => {
    await createAccount('robot');
    await harness.settle();
    const kept = names();
    await createSecret('missing', { [nameAnnotation]: 'nobody' });
    await createSecret('earlier', { [nameAnnotation]: 'robot', [uidAnnotation]: 'u0' });
    await harness.settle();
    expect(names()).toEqual(kept);
  });

  it('deletes a new secret when its account is deleted meanwhile', async () => {
    harness.server.interceptNext('POST', secrets, () =>
      harness.server.store.delete(accounts, 'default', 'robot', {}),
    );
    await createAccount('robot');
    await harness.settle();
    expect(names()).toEqual([]);
  });

  it('lists one secret when another writer changes the account meanwhile', async () => {
    harness.server.interceptNext('PUT', accounts, () =>
      harness.server.change(accounts, 'default/robot', (account) => ({
        ...account,
        secrets: [{ name: 'password' }],
      })),
    );
    await createAccount('robot');
    await harness.settle();
    expect(names()).toHaveLength(1);
    expect(listed('robot')).toEqual(['password', ...names()]);
  });

  it('leaves no secret behind when it cannot be listed, and tries again', async () => {
    harness.server.interceptNext('PUT', accounts, () => {
      throw new ApiError(500, 'InternalError', 'no leader');
    });
    await createAccount('robot');
    await harness.settle();
    await harness.advance(5_000);
    expect(names()).toHaveLength(1);
    expect(listed('robot')).toEqual(names());
  });

  it('writes nothing for complete accounts after a restart', async () => {
    await createAccount('robot');
    await harness.settle();
    await harness.stop();
    const before = names();
    const writes = () => harness.server.requests.filter(({ method }) => method !== 'GET').length;
    const writeCount = writes();
    await harness.start();
    expect(names()).toEqual(before);
    expect(writes()).toBe(writeCount);
  });

  it('does nothing without a key', async () => {
    await harness.stop();
    harness = harnessWith('');
    await harness.start();
    await createAccount('robot');
    await harness.settle();
    expect(names()).toEqual([]);
  });
});

it.each([
  ['is missing', undefined, /--service-account-private-key-file: .*ENOENT/],
  ['is garbage', 'garbage', /--service-account-private-key-file: .*holds no usable PEM key/],
])('ends the start when the key file %s', async (_what, text, message) => {
  const path = join(directory, 'bad.key');
  rmSync(path, { force: true });
  if (text !== undefined) writeFileSync(path, text);
  const error = await harnessWith(path)
    .start()
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toMatch(message);
});

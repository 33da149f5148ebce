import { createHmac } from 'node:crypto';
import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isControllerEnabled } from '../common/options.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { bootstrapSigner } from './bootstrap-signer-controller.js';
import { tokenCleaner } from './token-cleaner-controller.js';

const kubeconfig = 'apiVersion: v1\nkind: Config\nclusters: []\n';
let harness: ControllerHarness;

afterEach(() => harness.stop());

function seedToken(id: string, data: Record<string, string> = {}, name = `bootstrap-token-${id}`) {
  const all = {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    ...data,
  };
  harness.server.seed(resources.secrets, {
    metadata: { name, namespace: 'orch-system' },
    type: 'bootstrap.orch.io/token',
    data: Object.fromEntries(
      Object.entries(all).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  });
}

const inSeconds = (seconds: number) =>
  new Date(harness.clock.nowMs() + seconds * 1_000).toISOString().replace('.000', '');

describe('bootstrapSigner', () => {
  const key = 'orch-public/cluster-info';
  const data = () => harness.server.get(resources.configMaps, key)?.data ?? {};
  const signatures = () => Object.keys(data()).filter((name) => name.startsWith('jws-'));

  beforeEach(async () => {
    harness = new ControllerHarness([bootstrapSigner]);
    harness.server.seed(resources.configMaps, {
      metadata: { name: 'cluster-info', namespace: 'orch-public' },
      data: { kubeconfig, other: 'kept' },
    });
    await harness.start();
  });

  it('signs with each token that is for signing', async () => {
    seedToken('aaa001');
    seedToken('aaa002', { 'usage-bootstrap-signing': 'false' });
    seedToken('aaa003', { expiration: inSeconds(-1) });
    seedToken('aaa004', {}, 'another-name');
    seedToken('aaa005', { 'token-secret': '' });
    await harness.settle();
    expect(signatures()).toEqual(['jws-kubeconfig-aaa001']);
    expect(data()).toMatchObject({ kubeconfig, other: 'kept' });
    const [header = '', content, signature] = data()['jws-kubeconfig-aaa001']?.split('.') ?? [];
    expect(content).toBe('');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({
      alg: 'HS256',
      kid: 'aaa001',
    });
    const signed = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`;
    const expected = createHmac('sha256', '0123456789abcdef').update(signed).digest('base64url');
    expect(signature).toBe(expected);
  });

  it('signs again when the information changes, and repairs a changed signature', async () => {
    seedToken('aaa001');
    await harness.settle();
    const before = data()['jws-kubeconfig-aaa001'];
    const change = (changed: Record<string, string>) =>
      harness.server.change(resources.configMaps, key, (map) => ({
        ...map,
        data: { ...map.data, ...changed },
      }));
    change({ 'jws-kubeconfig-aaa001': 'forged', 'jws-kubeconfig-zzz': 'unknown' });
    await harness.settle();
    expect(data()['jws-kubeconfig-aaa001']).toBe(before);
    expect(signatures()).toHaveLength(1);
    change({ kubeconfig: 'changed' });
    await harness.settle();
    expect(data()['jws-kubeconfig-aaa001']).not.toBe(before);
  });

  it('removes the signatures of deleted and expired tokens', async () => {
    seedToken('aaa001');
    seedToken('aaa002', { expiration: inSeconds(30) });
    await harness.settle();
    expect(signatures()).toHaveLength(2);
    await harness.advance(31_000);
    expect(signatures()).toEqual(['jws-kubeconfig-aaa001']);
    await harness.client
      .resource(resources.secrets, 'orch-system')
      .delete('bootstrap-token-aaa001');
    await harness.settle();
    expect(signatures()).toEqual([]);
  });

  it('writes nothing without a kubeconfig, and no unchanged signature', async () => {
    seedToken('aaa001');
    await harness.settle();
    const writes = () => harness.server.requests.filter(({ method }) => method === 'PUT').length;
    expect(writes()).toBe(1);
    await harness.advance(60_000);
    expect(writes()).toBe(1);
    harness.server.change(resources.configMaps, key, (map) => ({ ...map, data: {} }));
    await harness.settle();
    expect(data()).toEqual({});
  });
});

describe('tokenCleaner', () => {
  const names = () => harness.names(resources.secrets, 'orch-system');

  beforeEach(async () => {
    harness = new ControllerHarness([tokenCleaner]);
    await harness.start();
  });

  it('deletes tokens when they expire, and those whose time is unreadable', async () => {
    seedToken('aaa001');
    seedToken('aaa002', { expiration: inSeconds(30) });
    seedToken('aaa003', { expiration: 'tomorrow' });
    harness.server.seed(resources.secrets, {
      metadata: { name: 'other', namespace: 'orch-system' },
      type: 'Opaque',
      data: { expiration: Buffer.from(inSeconds(-5)).toString('base64') },
    });
    await harness.settle();
    expect(names()).toEqual(['bootstrap-token-aaa001', 'bootstrap-token-aaa002', 'other']);
    await harness.advance(31_000);
    expect(names()).toEqual(['bootstrap-token-aaa001', 'other']);
  });

  it('keeps a token whose time was extended', async () => {
    seedToken('aaa001', { expiration: inSeconds(30) });
    await harness.settle();
    seedToken('aaa001', { expiration: inSeconds(90) });
    await harness.advance(60_000);
    expect(names()).toEqual(['bootstrap-token-aaa001']);
    await harness.advance(31_000);
    expect(names()).toEqual([]);
  });
});

describe('--controllers', () => {
  beforeEach(() => {
    harness = new ControllerHarness([]);
  });

  it('enables these two only by name', () => {
    for (const name of ['bootstrapsigner', 'tokencleaner']) {
      expect(isControllerEnabled(name, ['*'])).toBe(false);
      expect(isControllerEnabled(name, ['*', name])).toBe(true);
      expect(isControllerEnabled(name, [`-${name}`, name])).toBe(false);
    }
    expect(isControllerEnabled('csrapproving', ['*'])).toBe(true);
    expect(isControllerEnabled('csrapproving', ['*', '-csrapproving'])).toBe(false);
    expect(isControllerEnabled('csrapproving', ['deployment'])).toBe(false);
  });
});

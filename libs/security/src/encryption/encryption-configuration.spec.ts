import { systemClock } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { parseEncryptionConfiguration } from './encryption-configuration.js';

const secret = (byteCount: number, value = 7) => Buffer.alloc(byteCount, value).toString('base64');
const key = (name: string, byteCount = 32) => ({ name, secret: secret(byteCount) });

function parse(resources: unknown, other: object = {}) {
  const file = {
    kind: 'EncryptionConfiguration',
    apiVersion: 'apiserver.config.orch.io/v1',
    resources,
    ...other,
  };
  return parseEncryptionConfiguration(JSON.stringify(file), 'enc.yaml', systemClock);
}

const providers = (...list: unknown[]) => [{ resources: ['secrets'], providers: list }];
const aescbc = (...keys: unknown[]) => ({ aescbc: { keys } });

const context = Buffer.from('core/secrets/ns/a');
const payload = Buffer.from('a secret value');

describe('the encryption configuration', () => {
  it('names resources by the head of their group', () => {
    const { resources } = parse([
      { resources: ['secrets', 'deployments.apps'], providers: [{ identity: {} }] },
      {
        resources: ['roles.rbac.authorization.orch.io', 'things.example.com'],
        providers: [{ identity: {} }],
      },
    ]);
    expect([...resources.keys()]).toEqual([
      'core/secrets',
      'apps/deployments',
      'rbac.authorization/roles',
      'example.com/things',
    ]);
  });

  it('encrypts with the first key, and decrypts with all in any order', () => {
    const before = parse(providers(aescbc(key('old')), { identity: {} }));
    const old = before.resources.get('core/secrets')!;
    const written = old.encrypt(payload, context) as Buffer;
    expect(written.toString('latin1')).toMatch(/^orch:enc:aescbc:v1:old:/);
    expect(old.decrypt(written, context)).toEqual({ payload, isStale: false });
    expect(old.plaintext).toBe('stale');

    const after = parse(
      providers(
        { secretbox: { keys: [key('new')] } },
        { aesgcm: { keys: [key('b', 16)] } },
        aescbc(key('x', 24), key('old')),
      ),
    );
    const rotated = after.resources.get('core/secrets')!;
    expect(rotated.decrypt(written, context)).toEqual({ payload, isStale: true });
    const rewritten = rotated.encrypt(payload, context) as Buffer;
    expect(rewritten.toString('latin1')).toMatch(/^orch:enc:secretbox:v1:new:/);
    expect(rotated.plaintext).toBe('refused');
    expect(() => old.decrypt(rewritten, context)).toThrow('no matching prefix found');
  });

  it('stores plaintext if identity is the first provider', () => {
    const { resources } = parse(providers({ identity: {} }, aescbc(key('a'))));
    const encryption = resources.get('core/secrets')!;
    expect(encryption.encrypt(payload, context)).toBeUndefined();
    expect(encryption.plaintext).toBe('current');
  });

  it('reports a key that is missing by the name of its provider', () => {
    const old = parse(providers(aescbc(key('old')))).resources.get('core/secrets')!;
    const other = parse(providers(aescbc(key('other')))).resources.get('core/secrets')!;
    const written = old.encrypt(payload, context) as Buffer;
    expect(() => other.decrypt(written, context)).toThrow(
      'no matching key was found for the provided AES transformer',
    );
  });

  const at = 'resources[0].providers[0]';
  const kms = { name: 'k', endpoint: 'unix:///run/kms.sock' };
  it.each<[string, unknown, string]>([
    ['no resource', [], 'resources: at least one resource is required'],
    ['no provider', providers(), 'at least one provider is required'],
    ['an unknown provider', providers({ rot13: {} }), `${at}.rot13: unknown field`],
    ['an empty provider', providers({}), 'provider does not contain any of the expected providers'],
    [
      'two providers in one',
      providers({ identity: {}, ...aescbc(key('a')) }),
      'more than one provider specified in a single element',
    ],
    ['no key', providers(aescbc()), `${at}.aescbc.keys: at least one key is required`],
    [
      'a short key',
      providers(aescbc(key('a', 5))),
      `${at}.aescbc.keys[0].secret: secret is not of the expected length, got 5, expected one of [16 24 32]`,
    ],
    [
      'a short secretbox key',
      providers({ secretbox: { keys: [key('a', 16)] } }),
      'got 16, expected one of [32]',
    ],
    [
      'a key that is not base64',
      providers(aescbc({ name: 'a', secret: '%%%' })),
      'secrets must be base64 encoded',
    ],
    ['a key without secret', providers(aescbc({ name: 'a' })), 'secret is a mandatory field'],
    ['a key without name', providers(aescbc({ secret: secret(32) })), 'keys[0].name: is mandatory'],
    ['a name with a colon', providers(aescbc(key('a:b'))), "must not contain ':'"],
    ['duplicate keys', providers(aescbc(key('a'), key('a'))), 'duplicate key aescbc:a'],
    [
      'duplicate keys of two providers',
      providers(aescbc(key('a')), aescbc(key('a'))),
      'duplicate key aescbc:a',
    ],
    [
      'a duplicate resource',
      [{ resources: ['secrets', 'secrets'], providers: [{ identity: {} }] }],
      'duplicate resource',
    ],
    [
      'a resource that is no name',
      [{ resources: ['Secrets'], providers: [{ identity: {} }] }],
      'resources[0].resources[0]: must be',
    ],
    [
      'an unknown field',
      providers({ aescbc: { keys: [{ ...key('a'), more: 1 }] } }),
      'keys[0].more: unknown field',
    ],
    ['duplicate services', providers({ kms }, { kms }), 'duplicate KMS provider name k'],
    [
      'a network endpoint',
      providers({ kms: { ...kms, endpoint: 'tcp://1.2.3.4:5' } }),
      'kms.endpoint: must be unix:///',
    ],
    [
      'a cache of size 0',
      providers({ kms: { ...kms, cachesize: 0 } }),
      'kms.cachesize: should be a positive value',
    ],
    [
      'a timeout of 0',
      providers({ kms: { ...kms, timeout: '0s' } }),
      'kms.timeout: should be a positive value',
    ],
    [
      'another KMS version',
      providers({ kms: { ...kms, apiVersion: 'v2' } }),
      'only v1 is supported',
    ],
  ])('rejects %s', (_, resources, problem) => {
    expect(() => parse(resources)).toThrow(problem);
  });

  it('rejects another kind and a file that is not a map', () => {
    expect(() => parse(providers({ identity: {} }), { kind: 'Policy' })).toThrow(
      'must be EncryptionConfiguration of apiserver.config.orch.io/v1',
    );
    expect(() => parseEncryptionConfiguration('[]', 'f', systemClock)).toThrow('must be a map');
  });

  it('never shows a secret in an error', () => {
    const texts = [
      JSON.stringify(providers(aescbc({ name: 'a', secret: 'c2VjcmV0LXZhbHVl' }))),
      'resources: [\nsecret: c2VjcmV0LXZhbHVl }',
      'secret: c2VjcmV0LXZhbHVl\nsecret: c2VjcmV0LXZhbHVl',
    ];
    for (const text of texts) {
      let message = '';
      try {
        parseEncryptionConfiguration(text, 'f', systemClock);
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain('encryption configuration f');
      expect(message).not.toContain('c2VjcmV0');
    }
  });
});

import type { Secret, ServiceAccount } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import {
  base64,
  emptySecret,
  isTokenOf,
  orphanedSecrets,
  secretFill,
  tokenSecretType,
  withoutReference,
  withReference,
} from './token-plan.js';

const account: ServiceAccount = { metadata: { namespace: 'ns', name: 'robot', uid: 'u1' } };
const uidAnnotation = 'orch.io/service-account.uid';

function secretOf(name: string, annotations: Record<string, string>, rest: Partial<Secret> = {}) {
  const all = { 'orch.io/service-account.name': 'robot', ...annotations };
  const metadata = { namespace: 'ns', name, annotations: all };
  return { metadata, type: tokenSecretType(), ...rest };
}

describe('token secrets', () => {
  it.each([
    ['names it without a uid', secretOf('s', {}), true],
    ['names its uid', secretOf('s', { [uidAnnotation]: 'u1' }), true],
    ['names the uid of an earlier account', secretOf('s', { [uidAnnotation]: 'u0' }), false],
    ['names another', secretOf('s', { 'orch.io/service-account.name': 'other' }), false],
    ['is of another type', secretOf('s', {}, { type: 'Opaque' }), false],
  ])('match an account if the secret %s', (_what, secret, expected) => {
    expect(isTokenOf(account, secret)).toBe(expected);
    expect(orphanedSecrets(account, [secret])).toHaveLength(expected ? 0 : 1);
  });

  it('are all orphaned without the account', () => {
    expect(orphanedSecrets(undefined, [secretOf('s', {})])).toHaveLength(1);
  });

  it('get the authority, the namespace, the uid and a token', () => {
    const fill = secretFill(account, secretOf('s', {}, { data: { own: 'eA==' } }), 'pem');
    expect(fill?.metadata.annotations?.[uidAnnotation]).toBe('u1');
    expect(fill?.data).toEqual({ own: 'eA==', 'ca.crt': base64('pem'), namespace: base64('ns') });
    expect(fill?.needsToken).toBe(true);
  });

  it('retain their token and namespace when the authority changes', () => {
    const data = { token: 'dA==', namespace: base64('other'), 'ca.crt': base64('old') };
    const secret = secretOf('s', {}, { data });
    expect(secretFill(account, secret, 'new')).toMatchObject({
      data: { ...data, 'ca.crt': base64('new') },
      needsToken: false,
    });
    expect(secretFill(account, secret, 'old')).toBeUndefined();
    expect(secretFill(account, secret, undefined)).toBeUndefined();
  });

  it('are left alone when they are immutable or being deleted', () => {
    expect(secretFill(account, secretOf('s', {}, { immutable: true }), 'pem')).toBeUndefined();
    const deleted = secretOf('s', {});
    const metadata = { ...deleted.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(secretFill(account, { ...deleted, metadata }, 'pem')).toBeUndefined();
  });

  it('match the account that they are created for', () => {
    expect(isTokenOf(account, emptySecret(account, 'robot-token-x'))).toBe(true);
  });

  it('are listed and removed by name', () => {
    const listed = withReference({ ...account, secrets: [{ name: 'a' }] }, 'b');
    expect(listed.secrets).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(withoutReference(listed, 'a').secrets).toEqual([{ name: 'b' }]);
  });
});

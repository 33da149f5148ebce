import { admissionRules } from '@orch/api';
import { ValueError } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { selectPlugins } from './plugin-selection.js';

const own = ['NamespaceAutoProvision', 'NamespaceLifecycle', 'ResourceQuota'];
const available = [...own, ...admissionRules.map(({ name }) => name)].map((name) => ({ name }));
const selected = (enabled: string[], disabled: string[] = []) =>
  selectPlugins(available, { enabled, disabled }).map(({ name }) => name);

describe('the plugins of admission', () => {
  it('are those of the release, in its order', () => {
    expect(selected([])).toEqual([
      'NamespaceLifecycle',
      'LimitRanger',
      'ServiceAccount',
      'TaintNodesByCondition',
      'Priority',
      'DefaultTolerationSeconds',
      'DefaultStorageClass',
      'StorageObjectInUseProtection',
      'PersistentVolumeClaimResize',
      'RuntimeClass',
      'CertificateApproval',
      'CertificateSigning',
      'CertificateSubjectRestriction',
      'DefaultIngressClass',
      'ResourceQuota',
    ]);
  });

  it('come and go by name', () => {
    const names = selected(['AlwaysPullImages', 'Priority'], ['LimitRanger', 'AlwaysDeny']);
    expect(names).toContain('AlwaysPullImages');
    expect(names).toContain('Priority');
    expect(names).not.toContain('LimitRanger');
    expect(names.indexOf('AlwaysPullImages')).toBeLessThan(names.indexOf('Priority'));
  });

  it.each<[string[], string[], string]>([
    [['Nothing'], [], '--enable-admission-plugins: Nothing is not known'],
    [[], ['Nothing'], '--disable-admission-plugins: Nothing is not known'],
    [['AlwaysDeny'], ['AlwaysDeny'], 'AlwaysDeny is in --disable-admission-plugins as well'],
    [['EventRateLimit'], [], 'EventRateLimit is not here: its limits are in a file'],
  ])('enabling %j and disabling %j is refused', (enabled, disabled, message) => {
    expect(() => selected(enabled, disabled)).toThrow(ValueError);
    expect(() => selected(enabled, disabled)).toThrow(message);
  });

  it('may be switched off though they are not here', () => {
    expect(selected([], ['MutatingAdmissionWebhook'])).toEqual(selected([]));
  });

  it('are all here when they may be switched on', () => {
    const every = available.map(({ name }) => name);
    expect(selected(every).sort()).toEqual([...every].sort());
  });
});

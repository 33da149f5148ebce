import { ValueError } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { selectPlugins } from './plugin-selection.js';
import { admissionPlugins } from './plugins.js';

const selected = (enabled: string[], disabled: string[] = []) =>
  selectPlugins(admissionPlugins, { enabled, disabled }).map(({ name }) => name);

describe('the selection of admission plugins', () => {
  it('run the default plugins in order', () => {
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
      'MutatingAdmissionWebhook',
      'ValidatingAdmissionWebhook',
      'ResourceQuota',
    ]);
  });

  it('follow the names of the flags', () => {
    const names = selected(['AlwaysPullImages', 'Priority'], ['LimitRanger', 'AlwaysDeny']);
    expect(names).toContain('AlwaysPullImages');
    expect(names).toContain('Priority');
    expect(names).not.toContain('LimitRanger');
    expect(names.indexOf('AlwaysPullImages')).toBeLessThan(names.indexOf('Priority'));
  });

  it.each<[string[], string[], string]>([
    [['Nothing'], [], '--enable-admission-plugins: unknown plugins Nothing'],
    [[], ['Nothing'], '--disable-admission-plugins: unknown plugins Nothing'],
    [['AlwaysDeny'], ['AlwaysDeny'], 'AlwaysDeny is in --disable-admission-plugins as well'],
    [
      ['EventRateLimit'],
      [],
      'EventRateLimit is not available: it needs a configuration in --admission-control-config-file',
    ],
  ])('rejects enabling %j with disabling %j', (enabled, disabled, message) => {
    expect(() => selected(enabled, disabled)).toThrow(ValueError);
    expect(() => selected(enabled, disabled)).toThrow(message);
  });

  it('accepts disabling an unavailable plugin', () => {
    expect(selected([], ['ImagePolicyWebhook'])).toEqual(selected([]));
  });

  it('runs every available plugin when all are enabled', () => {
    const every = admissionPlugins
      .filter(({ unavailable }) => unavailable === undefined)
      .map(({ name }) => name);
    expect(selected(every)).toEqual(every);
  });
});

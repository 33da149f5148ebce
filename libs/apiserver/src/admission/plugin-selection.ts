/**
 * Which admission plugins run, and in which order: those that are on by default and those that
 * `--enable-admission-plugins` names, without those that `--disable-admission-plugins` names.
 */
import { ValueError } from '@orch/component';
import type { AdmissionPlugin } from './admission.js';

/** Every plugin that clients' manifests may name, in the order in which they run. */
const order = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'SecurityContextDeny',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurityPolicy',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'PersistentVolumeLabel',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const;

const onByDefault: ReadonlySet<string> = new Set([
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

/** Why a plugin that has a name is not here. */
const notHere: Readonly<Record<string, string>> = {
  EventRateLimit: 'its limits are in a file of settings for admission, and there is none',
  ImagePolicyWebhook: 'its webhook is in a file of settings for admission, and there is none',
  MutatingAdmissionWebhook: 'no webhooks are called yet',
  NodeRestriction: 'node agents are not held to their own node yet',
  OwnerReferencesPermissionEnforcement:
    'whoever has proven who they are may do everything, so that it would refuse nothing',
  PersistentVolumeLabel: 'it asks a cloud provider, and there is none',
  PodSecurityPolicy: 'nothing acts on these policies',
  PodTolerationRestriction: 'it is not written yet',
  ValidatingAdmissionWebhook: 'no webhooks are called yet',
};

const inOrder = ({ name: a }: AdmissionPlugin, { name: b }: AdmissionPlugin) =>
  order.indexOf(a as (typeof order)[number]) - order.indexOf(b as (typeof order)[number]);

export interface PluginNames {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

/** In their order. Throws `ValueError` for names that are unknown, not here, or in both lists. */
export function selectPlugins(
  available: readonly AdmissionPlugin[],
  { enabled, disabled }: PluginNames,
): AdmissionPlugin[] {
  check('--enable-admission-plugins', enabled);
  check('--disable-admission-plugins', disabled);
  for (const name of enabled) {
    if (disabled.includes(name)) {
      throw new ValueError(
        `--enable-admission-plugins: ${name} is in --disable-admission-plugins as well`,
      );
    }
    const reason = notHere[name];
    if (reason !== undefined) {
      throw new ValueError(`--enable-admission-plugins: ${name} is not here: ${reason}`);
    }
  }
  return available
    .filter(({ name }) => !disabled.includes(name))
    .filter(({ name }) => onByDefault.has(name) || enabled.includes(name))
    .sort(inOrder);
}

function check(flag: string, names: readonly string[]): void {
  const unknown = names.filter((name) => !(order as readonly string[]).includes(name));
  if (unknown.length === 0) return;
  throw new ValueError(
    `${flag}: ${unknown.join(', ')} is not known, there are: ${order.join(', ')}`,
  );
}

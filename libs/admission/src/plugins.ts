/** Every admission plugin, in execution order. */
import { rulePlugin } from './kind-rules.js';
import type { PluginDeclaration } from './plugin.js';
import { alwaysAdmit, alwaysDeny } from './plugins/always.js';
import { alwaysPullImages } from './plugins/always-pull-images.js';
import { antiAffinityTopology } from './plugins/anti-affinity-topology.js';
import { certificateApproval, certificateSigning } from './plugins/certificate-signers.js';
import { certificateSubject } from './plugins/certificate-subject.js';
import { claimResize } from './plugins/claim-resize.js';
import { defaultIngressClass, defaultStorageClass } from './plugins/default-classes.js';
import { defaultTolerations } from './plugins/default-tolerations.js';
import { denyExternalIps } from './plugins/deny-external-ips.js';
import { denySecurityContext } from './plugins/deny-security-context.js';
import { eventRateLimit } from './plugins/event-rate-limit/event-rate-limit.js';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.js';
import { imagePolicyWebhook } from './plugins/image-policy/image-policy-webhook.js';
import { limitRanger } from './plugins/limit-ranger.js';
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.js';
import { namespaceExists } from './plugins/namespace-exists.js';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.js';
import { nodeRestriction } from './plugins/node-restriction/node-restriction.js';
import { ownerReferencesPermission } from './plugins/owner-references.js';
import { persistentVolumeLabel } from './plugins/persistent-volume-label.js';
import { podNodeSelector } from './plugins/pod-node-selector.js';
import { podSecurityPolicy } from './plugins/pod-security-policy/pod-security-policy.js';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.js';
import { priority } from './plugins/priority.js';
import { protectStorage } from './plugins/protect-storage.js';
import { resourceQuota } from './plugins/resource-quota/resource-quota.js';
import { runtimeClass } from './plugins/runtime-class.js';
import { serviceAccount } from './plugins/service-account.js';
import { taintNewNodes } from './plugins/taint-new-nodes.js';
import { mutatingWebhooks, validatingWebhooks } from './webhooks/plugins.js';

export const admissionPlugins: readonly PluginDeclaration[] = [
  rulePlugin(alwaysAdmit),
  namespaceAutoProvision,
  namespaceLifecycle,
  rulePlugin(namespaceExists),
  rulePlugin(denySecurityContext),
  rulePlugin(antiAffinityTopology),
  rulePlugin(limitRanger),
  rulePlugin(serviceAccount),
  rulePlugin(nodeRestriction),
  rulePlugin(taintNewNodes),
  rulePlugin(alwaysPullImages),
  imagePolicyWebhook,
  rulePlugin(podSecurityPolicy),
  rulePlugin(podNodeSelector),
  rulePlugin(priority),
  rulePlugin(defaultTolerations),
  podTolerationRestriction,
  eventRateLimit,
  rulePlugin(extendedResourceToleration),
  rulePlugin(persistentVolumeLabel),
  rulePlugin(defaultStorageClass),
  rulePlugin(protectStorage),
  ownerReferencesPermission,
  rulePlugin(claimResize),
  rulePlugin(runtimeClass),
  rulePlugin(certificateApproval),
  rulePlugin(certificateSigning),
  rulePlugin(certificateSubject),
  rulePlugin(defaultIngressClass),
  rulePlugin(denyExternalIps),
  mutatingWebhooks,
  validatingWebhooks,
  resourceQuota,
  rulePlugin(alwaysDeny),
];

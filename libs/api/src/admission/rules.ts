/** Every admission rule; those of `optional` run only when they are asked for. */
import type { AdmissionRule } from './admission-rule.js';
import { certificateApprovalRule, certificateSigningRule } from './certificate-signers.js';
import { certificateSubjectRule } from './certificate-subject.js';
import { claimResizeRule } from './claim-resize.js';
import { defaultIngressClassRule, defaultStorageClassRule } from './default-classes.js';
import { defaultTolerationsRule } from './default-tolerations.js';
import { limitRangerRule } from './limit-ranger.js';
import { alwaysAdmitRule, alwaysDenyRule } from './optional/always.js';
import { alwaysPullImagesRule } from './optional/always-pull-images.js';
import { antiAffinityTopologyRule } from './optional/anti-affinity-topology.js';
import { denyExternalIpsRule } from './optional/deny-external-ips.js';
import { denySecurityContextRule } from './optional/deny-security-context.js';
import { extendedResourceTolerationRule } from './optional/extended-resource-toleration.js';
import { namespaceExistsRule } from './optional/namespace-exists.js';
import { podNodeSelectorRule } from './optional/pod-node-selector.js';
import { priorityRule } from './priority.js';
import { protectStorageRule } from './protect-storage.js';
import { runtimeClassRule } from './runtime-class.js';
import { serviceAccountRule } from './service-account.js';
import { taintNewNodesRule } from './taint-new-nodes.js';

/** On by default, in the order in which they run. */
export const defaultAdmissionRules: readonly AdmissionRule[] = [
  limitRangerRule,
  serviceAccountRule,
  taintNewNodesRule,
  priorityRule,
  defaultTolerationsRule,
  defaultStorageClassRule,
  protectStorageRule,
  claimResizeRule,
  runtimeClassRule,
  certificateApprovalRule,
  certificateSigningRule,
  certificateSubjectRule,
  defaultIngressClassRule,
];

export const admissionRules: readonly AdmissionRule[] = [
  ...defaultAdmissionRules,
  alwaysAdmitRule,
  alwaysDenyRule,
  alwaysPullImagesRule,
  antiAffinityTopologyRule,
  denyExternalIpsRule,
  denySecurityContextRule,
  extendedResourceTolerationRule,
  namespaceExistsRule,
  podNodeSelectorRule,
];

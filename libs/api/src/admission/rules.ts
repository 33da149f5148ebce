/** Every admission rule, in the order in which they run. */
import type { AdmissionRule } from './admission-rule.js';
import { certificateApprovalRule, certificateSigningRule } from './certificate-signers.js';
import { certificateSubjectRule } from './certificate-subject.js';
import { claimResizeRule } from './claim-resize.js';
import { defaultIngressClassRule, defaultStorageClassRule } from './default-classes.js';
import { defaultTolerationsRule } from './default-tolerations.js';
import { limitRangerRule } from './limit-ranger.js';
import { priorityRule } from './priority.js';
import { protectStorageRule } from './protect-storage.js';
import { runtimeClassRule } from './runtime-class.js';
import { serviceAccountRule } from './service-account.js';
import { taintNewNodesRule } from './taint-new-nodes.js';

export const admissionRules: readonly AdmissionRule[] = [
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

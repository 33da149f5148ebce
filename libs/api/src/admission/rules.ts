/** Every admission rule, in the order in which they run. */
import type { AdmissionRule } from './admission-rule.js';
import { certificateSubjectRule } from './certificate-subject.js';
import { defaultTolerationsRule } from './default-tolerations.js';
import { priorityRule } from './priority.js';
import { protectStorageRule } from './protect-storage.js';
import { runtimeClassRule } from './runtime-class.js';
import { serviceAccountRule } from './service-account.js';
import { taintNewNodesRule } from './taint-new-nodes.js';

export const admissionRules: readonly AdmissionRule[] = [
  serviceAccountRule,
  taintNewNodesRule,
  priorityRule,
  defaultTolerationsRule,
  protectStorageRule,
  runtimeClassRule,
  certificateSubjectRule,
];

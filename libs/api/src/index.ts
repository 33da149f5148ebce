/** What is particular to each kind, admission that fills in and refuses, objects of a fresh cluster. */
export * from './admission/admission-rule.js';
export { admissionRules } from './admission/rules.js';
export { bringUpToDate } from './apiextensions/bring-up-to-date.js';
export { setCondition, statusOf } from './apiextensions/conditions.js';
export {
  type CustomKind,
  type CustomVersion,
  customKindOf,
  customKindSource,
} from './apiextensions/custom-kind.js';
export { cleanupFinalizer } from './apiextensions/custom-resource-definition.js';
export type { StructuralSchema } from './apiextensions/schema/index.js';
export { compareVersions } from './apiextensions/version-order.js';
export { availabilityCondition } from './apiregistration/availability.js';
export {
  customApiService,
  isCustomApiService,
  localApiService,
} from './apiregistration/local-services.js';
export * from './bootstrap.js';
export {
  componentStatus,
  electedComponents,
  electedStatus,
  storeComponent,
} from './core/component-status.js';
export * from './definition.js';
export { definitions } from './definitions.js';
export { danglingCondition } from './flowcontrol/flow-schema.js';
export {
  autoUpdateAnnotation,
  isSpecKept,
  mandatoryOf,
  systemFlowSchemas,
  systemPriorityLevels,
} from './flowcontrol/system-objects.js';
export * from './policy/disruptions.js';
export {
  systemClusterRoleBindings,
  systemClusterRoles,
} from './rbac/system/cluster-roles.js';
export { systemRoleBindings, systemRoles } from './rbac/system/namespaced-roles.js';
export {
  bindsOther,
  isReconciled,
  reconcileBinding,
  reconcileRole,
} from './rbac/system/reconcile.js';
export { dropDisabledFields } from './shared/gated-fields.js';

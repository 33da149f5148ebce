/** The definition of each kind, admission rules, and the initial objects of a cluster. */

export { setCondition, statusOf } from './apiextensions/conditions.js';
export { customKindOf, customKindSource } from './apiextensions/custom-kind.js';
export { cleanupFinalizer } from './apiextensions/custom-resource-definition.js';
export { reconcileDefinitionStatus } from './apiextensions/definition-status.js';
export { compareVersions } from './apiextensions/version-order.js';
export {
  type Availability,
  availabilityCondition,
  discoveredAvailability,
  localAvailability,
  missingAddress,
} from './apiregistration/availability.js';
export {
  customApiService,
  isCustomApiService,
  isLocalAtStart,
  isReplaced,
  localApiService,
} from './apiregistration/local-services.js';
export * from './bootstrap.js';
export { requestedSubject } from './certificates/request.js';
export { clientSigner } from './certificates/signer-name.js';
export {
  componentStatus,
  electedComponents,
  electedStatus,
  storeComponent,
} from './core/component-status.js';
export { validateTolerations } from './core/placement/affinity-validation.js';
export { appArmorPrefix, mirrorAnnotation } from './core/pod/pod-annotations.js';
export { containerSeccompKey, podSeccompKey, seccompAnnotation } from './core/pod/seccomp.js';
export { claimProblems, podProblems } from './core/resources/limit-range-bounds.js';
export { fillPod } from './core/resources/limit-range-filling.js';
export { isExtended } from './core/resources/resource-rules.js';
export * from './definition.js';
export { definitions } from './definitions.js';
export { danglingCondition } from './flowcontrol/flow-schema.js';
export {
  autoUpdateAnnotation,
  isSpecManaged,
  mandatoryObject,
  systemFlowSchemas,
  systemPriorityLevels,
} from './flowcontrol/system-objects.js';
export { metricsDefinitions, metricsGroup, metricsReaderRole } from './metrics/metrics-group.js';
export * from './policy/disruptions.js';
export {
  systemClusterRoleBindings,
  systemClusterRoles,
} from './rbac/system/cluster-roles.js';
export { nodeRules } from './rbac/system/component-roles.js';
export { missingRules } from './rbac/system/covers.js';
export { systemRoleBindings, systemRoles } from './rbac/system/namespaced-roles.js';
export { rbacAutoUpdateAnnotation } from './rbac/system/objects.js';
export {
  isAutoUpdated,
  isRoleRefChanged,
  reconcileBinding,
  reconcileRole,
} from './rbac/system/reconcile.js';
export type { StructuralSchema } from './schema/index.js';
export { dropDisabledFields } from './shared/gated-fields.js';
export { jsonOf } from './shared/object-json.js';
export { createErrors, partErrors, updateErrors } from './shared/write-checks.js';
export { isDefaultStorageClass } from './storage/storage-class.js';

/**
 * Resources without HTTP: the table of served resources, a store for each of them, the admission
 * chain, custom resources and the objects that the server itself creates.
 */

export {
  Admission,
  type AdmissionObserver,
  type AdmissionOperation,
  type AdmissionPhase,
  type AdmissionPlugin,
  type AdmissionRequest,
  type MutationRound,
  type Reservation,
  type ReviewedView,
} from './admission/admission.js';
export { AdmissionMetrics } from './admission/admission-metrics.js';
export {
  availabilityReconciler,
  type CheckApiService,
} from './bootstrap/api-service-availability.js';
export { apiServiceReconciler, registerLocalServices } from './bootstrap/api-services.js';
export { flowControlReconciler } from './bootstrap/flow-control.js';
export { ensureMetricsReader } from './bootstrap/metrics-reader.js';
export { reconcileRoles } from './bootstrap/roles.js';
export { ServerEndpoints } from './bootstrap/server-endpoints.js';
export {
  bootstrapPriorities,
  type SystemObjectsOptions,
  systemObjectsReconciler,
} from './bootstrap/system-objects.js';
export { customPackagePrefix } from './codec/custom-package.js';
export type { ObjectCodec } from './codec/object-codec.js';
export { unknownFields } from './codec/unknown-fields.js';
export { type Converter, customConversion, renaming } from './customresources/converter.js';
export { CustomResources } from './customresources/custom-resources.js';
export { customCodecFor } from './customresources/custom-version-codec.js';
export { definitionReconciler } from './customresources/definition-reconciler.js';
export {
  resourceVersionWaitMs,
  selectorScanBatch,
  updateAttemptsMax,
  watchQueueEventsMax,
} from './limits.js';
export {
  type DeleteOptions,
  defaultDeleteOptions,
  type PropagationPolicy,
} from './objects/delete-options.js';
export { encodingOf, freshObject, isStale, markStale, objectOf } from './objects/entry-view.js';
export { applyTo, trackWrite } from './objects/field-ownership.js';
export { detachedEntry, metadataBytes, storedBytes, withRevision } from './objects/object-bytes.js';
export { checkIdentity, metadataOf } from './objects/object-metadata.js';
export { ClaimIndex } from './storage/claims.js';
export { DecodedWatch, type SharedEvents } from './storage/decoded-watch.js';
export { FollowedPrefix, type PrefixObserver } from './storage/followed-prefix.js';
export { objectLookup, systemSecretLookup } from './storage/object-lookup.js';
export { statusOfStoreError } from './storage/store-errors.js';
export {
  type ContinueToken,
  decodeContinueToken,
  encodeContinueToken,
} from './store/continue-token.js';
export type { DeleteResult } from './store/delete.js';
export {
  ExpiredContinueError,
  type ListResponse,
  listObjects,
  versionFailure,
} from './store/list.js';
export type { ListRequest, WatchRequest } from './store/list-request.js';
export { Registry, type RegistryDependencies } from './store/registry.js';
export { type Patch, ResourceStore } from './store/resource-store.js';
export { parseSelection, type Selection } from './store/selection.js';
export { objectStrategy, partStrategy } from './store/strategies.js';
export type { ObjectKey, Update, UpdateStrategy } from './store/update-strategy.js';
export type { Resource, ServedResource } from './table/resource.js';
export { ResourceTable } from './table/resource-table.js';
export { RuntimeConfig } from './table/runtime-config.js';
export { toStoredShape } from './table/stored-shape.js';
export { asDryRun, type WriteContext } from './write-context.js';

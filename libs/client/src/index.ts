/**
 * The client of the API server: typed requests, informers, work queues, leader election, events.
 */
export { LeaderElector, type LeaderElectorOptions } from './election/leader-elector.js';
export { electionRecordKey } from './election/object-lock.js';
export { servingUrl, servingUrlOf } from './election/serving-url.js';
export {
  type ElectedComponentDependencies,
  startElectedComponent,
} from './election/start-elected-component.js';
export {
  EventRecorder,
  type EventRecorderOptions,
  type EventType,
  type ObjectReference,
} from './events/event-recorder.js';
export { resources } from './generated/resources.js';
export { byControllerUid } from './informer/indexers.js';
export {
  type CacheView,
  Informer,
  type InformerOptions,
  type InformerSelection,
  type ResourceHandlers,
} from './informer/informer.js';
export { InformerFactory, type InformerFactoryOptions } from './informer/informer-factory.js';
export type { Indexer, Lister } from './informer/lister.js';
export { Reflector, type ReflectorOptions, type ReflectorSink } from './informer/reflector.js';
export {
  type ApiList,
  type ApiObject,
  keyOf,
  type ListMeta,
  type ObjectMeta,
  type OwnerReference,
  objectKey,
  splitKey,
  type WatchEvent,
} from './objects.js';
export { announcedPodRanges, podRoutesAnnotation } from './pod-routes.js';
export {
  QueueFullError,
  type QueueView,
  WorkQueue,
  type WorkQueueOptions,
} from './queue/work-queue.js';
export type { ApiClient } from './rest/api-client.js';
export {
  ApiError,
  fromResponse,
  isAlreadyExists,
  isConflict,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isResourceVersionTooLarge,
  type StatusBody,
  type StatusCause,
  type StatusDetails,
} from './rest/api-error.js';
export { clientOfFlags } from './rest/client-of-flags.js';
export type { DiscoveredResource, Discovery } from './rest/discovery.js';
export { restClientOptions } from './rest/from-connection.js';
export {
  KubeconfigCredentials,
  type KubeconfigCredentialsOptions,
} from './rest/kubeconfig-credentials.js';
export { type RawServer, rawServers } from './rest/raw-servers.js';
export type {
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  ResourceClient,
  SubresourceClient,
  WatchOptions,
  WriteOptions,
} from './rest/resource-client.js';
export type { KnownResource, ResourceRef } from './rest/resource-ref.js';
export { RestClient } from './rest/rest-client.js';
export { collectionPath } from './rest/rest-resource-client.js';
export type {
  DerivedOptions,
  QueryValue,
  RequestOptions,
  RestClientOptions,
  RestResponse,
  StreamResponse,
  TlsCredentials,
} from './rest/rest-types.js';
export { TokenBucket } from './rest/token-bucket.js';
export { TransportError, type TransportErrorCode } from './rest/transport-error.js';
export { decodeWatch, isWatchInterrupted } from './rest/watch-decoder.js';
export type { NodeReport, PodReport } from './scheduling/pod-report.js';
export {
  type ComponentDependencies,
  componentProviders,
  createComponent,
  serveComponent,
} from './startup/start-component.js';

/**
 * HTTP: filters, handlers, watches, discovery and OpenAPI. The composition is in `apps/apiserver`.
 */

export { AggregatedApis } from './aggregation/aggregated-apis.js';
export { checkAvailability } from './aggregation/availability-check.js';
export { identityHeaders } from './aggregation/forwarded-request.js';
export { ServerDocuments } from './aggregation/server-documents.js';
export {
  type AuditBackend,
  type AuditMode,
  type AuditSink,
  auditModes,
  BlockingBackend,
  type LossReport,
} from './audit/audit-backend.js';
export { AuditMetrics } from './audit/audit-metrics.js';
export { Auditor } from './audit/auditor.js';
export { BatchBackend } from './audit/batch-backend.js';
export {
  type AuditLogFormat,
  auditLogFormats,
  type LineOutput,
  LogSink,
  StandardOutput,
} from './audit/log-sink.js';
export { AuditPolicyError, readAuditPolicy } from './audit/read-policy.js';
export { RotatingFile } from './audit/rotating-file.js';
export { TruncatingSink } from './audit/truncating-sink.js';
export { Discovery } from './discovery/discovery.js';
export { EncryptedStore } from './encryption/encrypted-store.js';
export { Reencryption, type ReencryptionReport } from './encryption/reencryption.js';
export { dumpPriorityLevels, dumpQueues, dumpRequests } from './flowcontrol/dumps.js';
export { FlowControl } from './flowcontrol/flow-control.js';
export { FollowedConfiguration } from './flowcontrol/followed-configuration.js';
export { InFlight } from './flowcontrol/in-flight.js';
export type { NodeAgentTls } from './handlers/node-agents.js';
export {
  type RawRequest,
  RequestContext,
  type RequestContextOptions,
} from './http/request-context.js';
export type { RequestGate, RequestLimits } from './http/request-gate.js';
export { isResourceTarget, type RequestInfo } from './http/request-info.js';
export { headersFor, sendBody, writeHead } from './http/respond.js';
export { acceptUpgrade } from './http/upgrade.js';
export { ConsensusMetrics } from './observability/consensus-metrics.js';
export { FlowControlMetrics } from './observability/flow-control-metrics.js';
export { MeasuredStore } from './observability/measured-store.js';
export { PodLogMetrics } from './observability/pod-log-metrics.js';
export { RequestMetrics } from './observability/request-metrics.js';
export { StorageMetrics } from './observability/storage-metrics.js';
export { OpenApiDocuments } from './openapi/openapi-documents.js';
export { serveGroupVersion, serveIndex, serveWholeDocument } from './openapi/serve-openapi.js';
export { FollowedNodeGraph } from './policy/followed-node-graph.js';
export { FollowedRoles } from './policy/followed-roles.js';
export { readBody } from './request/read-body.js';
export { sendNotFoundText, sendUnknownPath } from './response/unknown-path.js';
export { RequestHandler, type RequestHandlerDependencies } from './server/request-handler.js';
export { BookmarkRounds } from './watch/bookmark-rounds.js';
export { WatchRegistry } from './watch/watch-registry.js';
export { clusterAddressResolver } from './webhooks/cluster-address-resolver.js';
export { serviceResolver } from './webhooks/service-resolver.js';
export { converterFactory } from './webhooks/webhook-converter.js';

/** Loaded only by servers with a webhook for tokens or authorization. */
export const loadReviewClient = () => import('./webhooks/review-client.js');
/** Loaded only by servers with an audit webhook. */
export const loadWebhookSink = () => import('./audit/webhook-sink.js');

/** The API server's pipeline, from request to store and back. Wiring is in `apps/apiserver`. */
export {
  Admission,
  type AdmissionObserver,
  type AdmissionPlugin,
  type AdmissionRequest,
} from './admission/admission.js';
export { kindRules } from './admission/kind-rules.js';
export { NamespaceAutoProvision } from './admission/namespace-auto-provision.js';
export { NamespaceLifecycle } from './admission/namespace-lifecycle.js';
export { type PluginNames, selectPlugins } from './admission/plugin-selection.js';
export { ResourceQuotaAdmission } from './admission/resource-quota.js';
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
export { Authenticator } from './authentication/authenticator.js';
export { IssuerDocuments } from './authentication/issuer-documents.js';
export { ServiceAccountAuthenticator } from './authentication/service-account-authenticator.js';
export {
  createSigningKeyPem,
  type KeyFile,
  ServiceAccountKeyError,
  serviceAccountKeys,
} from './authentication/service-account-keys.js';
export { ServiceAccountTokens } from './authentication/service-account-tokens.js';
export { readTokenFile, TokenFileError } from './authentication/token-file.js';
export { anonymousUser, authenticated, type User } from './authentication/user.js';
export {
  type Attributes,
  type Authorizer,
  allowAuthenticated,
  type Decision,
  permissionsOfAuthenticated,
} from './authorization/authorizer.js';
export { apiServiceUpkeep, registerLocalServices } from './bootstrap/api-services.js';
export {
  type BootstrapSettings,
  bootstrapPriorities,
  systemObjectsUpkeep,
} from './bootstrap/bootstrap.js';
export { flowControlUpkeep } from './bootstrap/flow-control.js';
export { reconcileRoles } from './bootstrap/roles.js';
export { ServerEndpoints } from './bootstrap/server-endpoints.js';
export { CustomParts } from './customresources/custom-parts.js';
export { CustomResources } from './customresources/custom-resources.js';
export { definitionUpkeep } from './customresources/definition-upkeep.js';
export { converterFor } from './customresources/webhook-converter.js';
export { Discovery } from './discovery/discovery.js';
export { dumpPriorityLevels, dumpQueues, dumpRequests } from './flowcontrol/dumps.js';
export { FlowControl } from './flowcontrol/flow-control.js';
export { FollowedConfiguration } from './flowcontrol/followed-configuration.js';
export type { NodeAgentTls } from './handlers/node-agents.js';
export { AdmissionMetrics } from './observability/admission-metrics.js';
export { AuthenticationMetrics } from './observability/authentication-metrics.js';
export { ConsensusMetrics } from './observability/consensus-metrics.js';
export { FlowControlMetrics } from './observability/flow-control-metrics.js';
export { MeasuredStore } from './observability/measured-store.js';
export { PodLogMetrics } from './observability/pod-log-metrics.js';
export { RequestMetrics } from './observability/request-metrics.js';
export { StorageMetrics } from './observability/storage-metrics.js';
export { WatchRegistry } from './observability/watch-registry.js';
export { OpenApiDocuments } from './openapi/openapi-documents.js';
export { serveGroupVersion, serveIndex, serveWholeDocument } from './openapi/serve-openapi.js';
export { ClaimIndex } from './registry/claims.js';
export { createObject } from './registry/create.js';
export type { RegistryParts } from './registry/registry-parts.js';
export { ResourceTable } from './registry/resource-table.js';
export { RuntimeConfig } from './registry/runtime-config.js';
export { readBody } from './request/read-body.js';
export { isResourceTarget } from './request/request-info.js';
export { type Exchange, headersFor, sendBody, writeHead } from './response/exchange.js';
export { sendNotFoundText, sendUnknownPath } from './response/unknown-path.js';
export { ApiHandler, type ApiHandlerSettings } from './server/api-handler.js';
export type { Admitted, Answer } from './server/dispatcher.js';
export { InFlight } from './server/in-flight.js';
export type { RequestGate, RequestLimits } from './server/request-gate.js';
export { upgradeExchange } from './server/upgrade.js';
export { serviceResolver } from './webhooks/service-place.js';
export { WebhookClient } from './webhooks/webhook-client.js';

/** Of weight only to servers with an audit webhook. */
export const loadWebhookSink = () => import('./audit/webhook-sink.js');

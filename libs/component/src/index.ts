/** What every process is made of: flags, lifecycle, logs, metrics, health, TLS, and the dialect. */
export { type Clock, type LoopClock, systemClock, type Timer } from './clock.js';
export {
  Dialect,
  type DialectName,
  dialect,
  dialectNames,
  selectDialect,
} from './dialect/dialect.js';
export { FeatureGates, type Features } from './features/feature-gates.js';
export { type GatedComponent, idleGates, operationalGates } from './features/gate-effects.js';
export { writeFileAtomic } from './files/write-file-atomic.js';
export {
  type HealthAnswer,
  type HealthCheck,
  HealthChecks,
  type HealthEndpoint,
  type HealthQuery,
  healthEndpoints,
  healthQuery,
  pingCheck,
} from './health/health-checks.js';
export {
  type ConnectionConfig,
  connectionOf,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  KubeconfigError,
  type KubeconfigExec,
  type KubeconfigUser,
  readKubeconfig,
  type SingleKubeconfig,
  singleKubeconfig,
  writeKubeconfig,
} from './kubeconfig/kubeconfig.js';
export { DeadlineError, sleep, withDeadline } from './lifecycle/deadline.js';
export { type ExitCode, exitCodes, FatalError } from './lifecycle/exit-codes.js';
export { KeyedMutex } from './lifecycle/keyed-mutex.js';
export { Lifecycle, type LifecycleSettings } from './lifecycle/lifecycle.js';
export { Backoff, type BackoffSettings, type RetrySettings, retry } from './lifecycle/retry.js';
export {
  type ComponentContext,
  type ComponentDefinition,
  type HasCommonOptions,
  runComponent,
} from './lifecycle/run-component.js';
export {
  createLogger,
  type LogFormat,
  type LoggerSettings,
  type LogLevel,
} from './logging/create-logger.js';
export type { Logger } from './logging/logger.js';
export { nestLogger } from './logging/nest-logger.js';
export { type Counter, CounterSeries } from './metrics/counter.js';
export { previousRelease } from './metrics/deprecation.js';
export { exponentialBuckets, type Histogram, type HistogramSeries } from './metrics/histogram.js';
export { type Gauge, type HistogramSpec, type MetricSpec, Metrics } from './metrics/metrics.js';
export type { SummarySeries } from './metrics/summary.js';
export { ClientOptions } from './options/client-options.js';
export { CommonOptions } from './options/common-options.js';
export {
  Flag,
  type FlagDefault,
  type FlagSpec,
  Flags,
  type FlagType,
  type GroupDefaults,
  type OptionsClass,
} from './options/flag.js';
export { LeaderElectionOptions } from './options/leader-election-options.js';
export {
  HelpRequested,
  type ProgramInfo,
  parseOptions,
  UsageError,
} from './options/parse-options.js';
export { ServingOptions } from './options/serving-options.js';
export {
  parseBoolean,
  parseDuration,
  ValueError,
} from './options/values.js';
export {
  ComponentServer,
  type ComponentServerSettings,
  refuseUpgrade,
} from './serving/component-server.js';
export {
  DelegatedAuthorizer,
  type DelegatedAuthorizerSettings,
  type PostReview,
  type RequestAuthorizer,
  type ReviewedResource,
  type ServingDecision,
  type ServingRequest,
} from './serving/request-authorizer.js';
export {
  type ServingParts,
  servingPair,
  startComponentServer,
} from './serving/start-component-server.js';
export {
  ensureAuthority,
  ensureCertificate,
  ensureSelfSigned,
} from './tls/certificate-files.js';
export { CertificatePoll } from './tls/certificate-poll.js';
export type { CertificateRequest, KeyPairPem } from './tls/certificate-request.js';
export { createAuthority, issueCertificate } from './tls/pki.js';
export {
  serverTlsOptions,
  type TlsVersionName,
  tlsVersionNames,
} from './tls/tls-options.js';
export { buildInfo, interfaceVersion, orchVersion } from './version.js';

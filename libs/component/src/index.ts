/**
 * The parts shared by all processes: flags, lifecycle, logs, metrics, health, TLS and the dialect.
 */
export { type Awaitable, firstAccepted } from './awaitable.js';
export {
  alignedDelayMs,
  type Clock,
  type LoopClock,
  systemClock,
  type Timer,
} from './clock.js';
export {
  Dialect,
  type DialectName,
  dialect,
  dialectNames,
  selectDialect,
} from './dialect/dialect.js';
export { type Dial, type DialAddress, httpAgent, httpsAgent } from './egress/dialing-agent.js';
export {
  type DialObserver,
  type DialStage,
  dialThroughHttpConnect,
  type HttpConnectOptions,
  type ProxyTransport,
} from './egress/http-connect.js';
export { errorCode, errorMessage } from './errors/thrown.js';
export { FeatureGates, type Features } from './features/feature-gates.js';
export { type GatedComponent, idleGates, operationalGates } from './features/gate-effects.js';
export { writeFileAtomic } from './files/write-file-atomic.js';
export { BootChecks, type BootChecksOptions } from './health/boot-checks.js';
export {
  type HealthCheck,
  HealthChecks,
  type HealthEndpoint,
  type HealthQuery,
  type HealthResponse,
  healthEndpoints,
  healthQuery,
  logCheck,
  pingCheck,
} from './health/health-checks.js';
export { knownKeys } from './keys.js';
export {
  type ConnectionConfig,
  connectionOf,
  credentialsOf,
  FollowedKubeconfig,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  KubeconfigError,
  type KubeconfigExec,
  type KubeconfigUser,
  readKubeconfig,
  type SingleKubeconfigOptions,
  singleKubeconfig,
  type UserCredentials,
  writeKubeconfig,
} from './kubeconfig/kubeconfig.js';
export type {
  ComponentContext,
  ComponentDefinition,
  HasCommonOptions,
} from './lifecycle/component-run.js';
export {
  Deadline,
  DeadlineError,
  type EndSignal,
  sleep,
  withDeadline,
} from './lifecycle/deadline.js';
export { type ExitCode, exitCodes, FatalError } from './lifecycle/exit-codes.js';
export {
  type InvariantDetails,
  InvariantError,
  invariant,
  isInvariantError,
  isVerifying,
  setVerifying,
  verify,
} from './lifecycle/invariant.js';
export type { ComponentPart } from './lifecycle/kept-component.js';
export { KeyedMutex, type KeyedMutexOptions } from './lifecycle/keyed-mutex.js';
export { Lifecycle, type LifecycleOptions } from './lifecycle/lifecycle.js';
export {
  Backoff,
  type BackoffOptions,
  backoffMs,
  type RetryOptions,
  retry,
} from './lifecycle/retry.js';
export { runComponent } from './lifecycle/run-component.js';
export { componentPart, runComponents } from './lifecycle/run-components.js';
export { collectStartGarbage } from './lifecycle/start-garbage.js';
export { TokenBucket } from './lifecycle/token-bucket.js';
export {
  createLogger,
  type LogFormat,
  type LoggerOptions,
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
export { DelegatedAuthenticationOptions } from './options/delegated-authentication-options.js';
export {
  Flag,
  type FlagDefault,
  type FlagSpec,
  Flags,
  type FlagType,
  type GroupDefaults,
  type OptionsClass,
} from './options/flag.js';
export {
  type LeaderElectionLock,
  LeaderElectionOptions,
} from './options/leader-election-options.js';
export {
  HelpRequested,
  type ProgramInfo,
  parseOptions,
  UsageError,
} from './options/parse-options.js';
export { ProfilingOptions } from './options/profiling-options.js';
export { ProxyAuthenticationOptions } from './options/proxy-authentication-options.js';
export { ServingOptions } from './options/serving-options.js';
export { TlsFlags } from './options/tls-flags.js';
export {
  parseBoolean,
  parseDuration,
  ValueError,
} from './options/values.js';
export { authenticationConfigMap } from './serving/authentication-config-map.js';
export {
  ComponentServer,
  type ComponentServerOptions,
  type Page,
  refuseUpgrade,
} from './serving/component-server.js';
export { type DebugPage, DebugPages, type DebugPagesOptions } from './serving/debug-pages.js';
export { ExpiringCache } from './serving/expiring-cache.js';
export { ProfileRunningError } from './serving/profiles.js';
export { hostAddress, reachableAddress, urlHost } from './serving/reachable-address.js';
export {
  DelegatedAuthorizer,
  type DelegatedAuthorizerOptions,
  type PostReview,
  type RequestAuthorizer,
  type ReviewedResource,
  type ServingDecision,
} from './serving/request-authorizer.js';
export type {
  ServingAuthentication,
  ServingRequest,
  ServingUser,
} from './serving/serving-request.js';
export {
  followServingFiles,
  type ServingDependencies,
  servingMaterial,
  startComponentServer,
  startInsecureServer,
} from './serving/start-component-server.js';
export {
  ensureAuthority,
  ensureCertificate,
  ensureSelfSigned,
} from './tls/certificate-files.js';
export { CertificatePoll } from './tls/certificate-poll.js';
export {
  type CertificateRequest,
  CertificateRequestError,
  type KeyPairPem,
  type RequestedNames,
  type SigningOptions,
} from './tls/certificate-request.js';
export { expectingName } from './tls/expecting-name.js';
export { requireMatchingPair } from './tls/matching-pair.js';
export {
  createAuthority,
  createCertificateRequest,
  createKeyPem,
  issueCertificate,
  requestedNames,
  signCertificateRequest,
} from './tls/pki.js';
export { ReloadedTls, type ReloadedTlsOptions, type TlsMaterial } from './tls/reloaded-tls.js';
export {
  serverTlsOptions,
  type TlsVersionName,
} from './tls/tls-options.js';
export {
  type LegacyTokenClaim,
  legacyTokenClaim,
  legacyTokenIssuer,
} from './tokens/legacy-claims.js';
export {
  TokenKeyError,
  type TokenKeyFile,
  type TokenSigningKey,
  type TokenVerifyingKey,
  tokenSigningKey,
  tokenVerifyingKeys,
} from './tokens/token-keys.js';
export { buildInfo, interfaceVersion, orchVersion } from './version.js';

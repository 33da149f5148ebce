/** Named maxima of authentication, authorization and encryption. */

/** Users whose credentials are remembered. */
export const credentialCacheEntriesMax = 10_000;
/**
 * Requests, and rules about them, that are remembered; above it all are forgotten. Higher:
 * more memory, some hundred bytes each. Lower: the roles are read again for more requests.
 */
export const rememberedRulesMax = 50_000;
/**
 * Length of a request, without the name of its object, that is remembered. Higher: long
 * paths fill the memory. Lower: the roles are read for requests with long names of namespaces.
 */
export const findingsKeyLengthMax = 512;
/** Length of a bearer token. Higher: more work to reject garbage. Lower: large tokens fail. */
export const bearerTokenLengthMax = 64 * 1024;
/** Time limit of a request to an OpenID Connect provider. */
export const oidcTimeoutMs = 10_000;
/**
 * Pause between two fetches of a provider's keys. Higher: a new key is accepted later. Lower:
 * tokens with invented key ids load the provider.
 */
export const oidcKeysCooldownMs = 5_000;
/** Age at which keys are fetched again. Lower: more requests to the provider. */
export const oidcKeysMaxAgeMs = 10 * 60_000;
/** Size of a provider's response. */
export const oidcResponseBytesMax = 1024 * 1024;

/** Bytes of a policy file of the mode ABAC. Higher: more memory. Lower: large files are refused. */
export const abacFileBytesMax = 16 * 1024 * 1024;

/**
 * Characters of a line of that file. Higher: a damaged file takes longer to refuse. Lower: policies
 * with long names are refused.
 */
export const abacLineLengthMax = 64 * 1024;

/** Size of a file of static tokens or passwords. */
export const credentialFileBytesMax = 16 * 1024 * 1024;
/**
 * Remembered results of one webhook, accepted and rejected ones counted apart, so that rejected
 * ones never displace accepted ones. Higher: more memory. Lower: more requests to the webhook.
 */
export const reviewCacheEntriesMax = 8_192;
/**
 * Length of a review whose result is remembered. Higher: long names fill the memory. Lower: more
 * requests to the webhook.
 */
export const cachedReviewLengthMax = 10_000;
/** Length of an error message of a webhook that is passed on; longer ones are truncated. */
export const reviewErrorLengthMax = 2_048;
/**
 * Certificates between a client's certificate and its authority. Higher: a longer chain costs more
 * time. Lower: clients behind many intermediate authorities are rejected.
 */
export const certificateChainLengthMax = 8;
/** Length of the credentials of basic authentication, encoded. */
export const basicCredentialsLengthMax = 4_096;

/** Bytes of the encryption configuration file. */
export const encryptionFileBytesMax = 1024 * 1024;
/** Merge keys in the encryption configuration file. */
export const encryptionMergesMax = 100;
/**
 * Calls of a key management service in flight. Higher: a list of many objects loads the service.
 * Lower: such a list takes longer.
 */
export const kmsCallsMax = 16;
/** Calls that wait for one of those in flight. Above it, reads and writes are refused with 503. */
export const kmsCallsWaitingMax = 10_000;
/**
 * How long a health check reports a key management service that worked without another call.
 * Higher: an outage is reported later. Lower: probes load the service.
 */
export const kmsHealthyMs = 20_000;
/** The same for a service that failed. Higher: its return is reported later. */
export const kmsUnhealthyMs = 3_000;
/**
 * Period of the checks of the files with client authorities. Higher: a removed authority is trusted
 * for longer. Lower: more reads.
 */
export const authoritiesPollMs = 10_000;
/** Bytes of a data key that a key management service has encrypted: its length has 16 bits. */
export const encryptedDataKeyBytesMax = 2 ** 16 - 1;

/**
 * Idle time after which the connection to a webhook is closed. Higher: more idle connections.
 * Lower: more handshakes.
 */
export const webhookIdleConnectionMs = 60_000;
/** Idle connections to one webhook. Higher: more memory. Lower: more handshakes after a burst. */
export const webhookIdleConnectionsMax = 64;
/** Webhooks whose connections are pooled. */
export const webhookClientsMax = 256;
/** Redirects of one request to a webhook, as in the interface. */
export const webhookRedirectCountMax = 10;
/** Repetitions of a request to a webhook after `Retry-After`, as in the interface. */
export const webhookRetryCountMax = 10;

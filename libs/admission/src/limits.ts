/** Named maxima of the admission plugins. */

/**
 * Keys of an event limit that are remembered by default. Higher: more memory. Lower: forgotten keys
 * start with a full burst again.
 */
export const eventKeysDefault = 4_096;
/**
 * Largest configurable number of keys of an event limit. Higher: a wrong configuration can fill
 * the memory. Lower: large clusters cannot limit by object.
 */
export const eventKeysMax = 1 << 20;
/**
 * Reviews of images that are cached. Higher: more memory. Lower: more requests to the webhook.
 */
export const imageReviewsMax = 1_024;
/**
 * Bytes of the response to an image review. Higher: more memory for each cached review. Lower: long
 * reasons are rejected.
 */
export const imageReviewBytesMax = 1 << 16;
/**
 * Attempts of an image review. Higher: an unreachable webhook delays pods for longer. Lower: short
 * outages reject pods.
 */
export const imageReviewAttemptsMax = 5;
/**
 * Longest wait for one response of the image webhook. Higher: a hanging webhook delays pods for
 * longer. Lower: slow webhooks fail.
 */
export const imageReviewTimeoutMs = 10_000;
/**
 * Pod security policies that are evaluated for one pod. Higher: a pod that no policy admits costs
 * more. Lower: clusters with many policies reject every pod.
 */
export const podSecurityPoliciesMax = 1_000;
/**
 * Bytes of the reasons in the rejection by pod security policies. Higher: larger responses. Lower:
 * with many policies, some reasons are omitted.
 */
export const policyReasonsBytesMax = 1 << 16;

/** Attempts to charge a quota that other servers charge as well. */
export const quotaChargeAttemptsMax = 100;
/**
 * Charges and refunds of one namespace that are written together. Higher: the first waits for the
 * decision of the last. Lower: less throughput of a namespace with quotas.
 */
export const quotaBatchSizeMax = 256;
/**
 * Quotas whose latest own writes are remembered for refunds. Higher: more memory. Lower: more
 * charges of failed writes wait for a recount.
 */
export const ownWritesMax = 10_000;
/**
 * Writes to one namespace that wait for its quotas. Higher: longer waits, more memory. Lower: more
 * refusals.
 */
export const quotaWaiterCountMax = 1_000;
/** Time limit of an admission webhook that its configuration does not set. */
export const hookTimeoutDefaultSeconds = 10;
/**
 * Bytes of the response of an admission webhook. Higher: a faulty webhook fills the memory. Lower:
 * large patches are refused.
 */
export const hookResponseBytesMax = 4 * 1024 * 1024;

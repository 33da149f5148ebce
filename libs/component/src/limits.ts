/** Every maximum of this library, by name. Raising one costs the memory or the time it stands for. */

/** Length of one flag value; longer input is a mistake, not a configuration. */
export const flagValueBytesMax = 64 * 1024;
/** Entries of one list or key=value flag. */
export const flagListEntryCountMax = 10_000;
/** Size of a kubeconfig file. */
export const kubeconfigBytesMax = 4 * 1024 * 1024;
/** API servers that a kubeconfig names for one cluster. */
export const kubeconfigEndpointCountMax = 32;
/** Shutdown steps a process may register. */
export const shutdownStepCountMax = 1_000;
/** Health checks of one process. */
export const healthCheckCountMax = 1_000;
/** Time one health check may take before it counts as failed. */
export const healthCheckTimeoutMs = 5_000;
/** Connections the components' own small server accepts at once. */
export const servingConnectionCountMax = 1_000;
/** Time a client has to send a whole request; bodies are not read. */
export const servingRequestTimeoutMs = 30_000;
/** Decisions kept by the delegated authorizer. */
export const reviewCacheEntryCountMax = 10_000;
/** Tasks that may wait for one key of a keyed mutex. */
export const mutexWaiterCountMax = 10_000;
/** Longest CPU profile. */
export const profileSecondsMax = 25;

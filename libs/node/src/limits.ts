/** The limits of the node agent. */

/** Time limit of one helper command (`ip`, `nsenter`, `unshare`). */
export const helperCommandTimeoutMs = 10_000;
/** Output of a helper command that is retained. */
export const helperOutputBytesMax = 64 * 1024;
/** Output of a command inside a container that is retained, for each stream. */
export const execOutputBytesMax = 1024 * 1024;
/** Time limit from the launch of a container until its command runs. */
export const containerStartTimeoutMs = 30_000;
/** Time limit for a killed container to exit. */
export const killTimeoutMs = 10_000;
/** Period of the check for containers that ended without an exit record. */
export const livenessCheckPeriodMs = 2_000;
/**
 * Period in which usage is measured, and window of CPU rates. Higher: figures follow the load
 * later. Lower: more CPU use of the agent, and coarser rates.
 */
export const statsPeriodMs = 10_000;
/** Containers in the state of a runtime, including dead ones. */
export const containerCountMax = 4_096;
/** Pod sandboxes in the state of a runtime. */
export const sandboxCountMax = 1_024;
/** Prefix length of a node's pod CIDR: 14 to 65,534 addresses. */
export const podCidrPrefixMin = 16;
export const podCidrPrefixMax = 28;
/**
 * Longest pause between two reads of a node that has no range yet. Higher: the agent starts later.
 * Lower: more requests.
 */
export const rangePollMsMax = 5_000;
/** Mounts of one container. */
export const mountCountMax = 256;
/** Size of each tmpfs of a container: its root, the upper layers of overlays, /dev and /dev/shm. */
export const scratchTmpfsSize = '64m';
/** Size of the termination message of one container, and of all containers of a pod together. */
export const terminationMessageBytesMax = 4_096;
export const terminationMessagesBytesMax = 12 * 1024;
/** Size of a termination message that is read from the log. */
export const terminationFallbackBytesMax = 2_048;
export const terminationFallbackLineCountMax = 80;
/** Size of one read of a log file. */
export const logChunkBytes = 64 * 1024;
/** Poll period of a followed log. */
export const logPollPeriodMs = 200;
/** Poll period of the output of a terminal. Higher: a slower echo. Lower: more CPU use. */
export const promptPollPeriodMs = 30;
/** Period of log rotation. */
export const logRotationPeriodMs = 10_000;
/** Bytes of a probe response that are read; events contain a shorter prefix. */
export const probeBodyBytesMax = 10 * 1024;
/** Config maps and secrets watched for the pods of the node. */
export const watchedObjectCountMax = 2_000;
/** Time limit for the first list of a config map or secret. */
export const objectSyncTimeoutMs = 10_000;
/** Cached service account tokens. */
export const accountTokenCountMax = 4_000;
/** Lifetime of a service account token if its volume sets none. */
export const accountTokenSecondsDefault = 3_600;
/** Pods on one node, including finished ones, which `--max-pods` does not count. */
export const podCountMax = 1_000;
/** Time limit of a postStart hook; the container is not ready before it ends. */
export const hookTimeoutMs = 10 * 60_000;
/** Time between TERM and KILL if the preStop hook has consumed the grace period. */
export const terminationGraceMinMs = 2_000;
/** Period of the sync of a pod without an event; repairs the effects of missed events. */
export const podResyncPeriodMs = 10_000;
/** Back-off after a failed sync of a pod: the first and the longest pause. */
export const podRetryInitialMs = 500;
export const podRetryMaxMs = 60_000;
/**
 * Back-off before the restart of a container that keeps ending: the first and the longest pause.
 */
export const restartBackoffInitialMs = 10_000;
export const restartBackoffMaxMs = 300_000;
/** Containers whose back-off is stored. */
export const restartBackoffEntryCountMax = 10_000;
/** Dead runs of each container that are retained, for its last state and its previous log. */
export const deadRunCountMax = 1;
/** The watch of a config map or secret ends after this time without use. */
export const objectIdleMs = 120_000;
/** Period in which the status of the node is written even if it is unchanged. */
export const nodeStatusReportPeriodMs = 5 * 60_000;
/** Time without a first list from the API server after which a warning is logged. */
export const informerSyncTimeoutMs = 30_000;
/** Length of the path of a terminal. */
export const terminalNameBytesMax = 64;
/** Time limit for connecting to a port of a pod. */
export const podDialTimeoutMs = 10_000;
/** Idle time after which the helper process that connects to a pod's ports is stopped. */
export const podDialerIdleMs = 30_000;
/** Concurrent commands, attachments and port forwards of one agent. */
export const streamingSessionsMax = 500;
/** Time limit of a command of `/run`, whose output is returned as a whole. */
export const commandRunTimeoutMs = 60_000;
/** Pause between two attempts to obtain a certificate: the first and the longest. */
export const requestRetryMinMs = 2_000;
export const requestRetryMaxMs = 32_000;
/** Time limit for the approval and signature of a certificate that replaces a valid one. */
export const renewalTimeoutMs = 15 * 60_000;
/** The same for the first certificate of a node that joins, of each attempt. */
export const joinTimeoutMs = 60 * 60_000;
/** Attempts to obtain the first certificate; about nine hours if all fail immediately. */
export const joinAttemptCountMax = 1_000;
/** Period of the check whether a certificate is due; a clock may step. */
export const renewalCheckMsMax = 60 * 60_000;
/** A sync of a pod that takes longer hangs: the agent is unhealthy. */
export const podSyncTimeoutMs = 300_000;
/** Hollow nodes of one process. */
export const hollowNodeCountMax = 10_000;
/** Pods of hollow nodes that are reconciled at the same time. */
export const hollowWorkerCountMax = 1_000;
/** Pods of all hollow nodes of one process, about 4 KB each. */
export const hollowPodCountMax = 500_000;
/** Retries of all pods of hollow nodes: per second, and in a burst. */
export const hollowRetryQps = 500;
export const hollowRetryBurst = 1_000;

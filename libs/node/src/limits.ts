/** Every maximum of the node agent, in one place. */

/** Longest time one helper command (`ip`, `nsenter`, `unshare`) may take. */
export const helperCommandTimeoutMs = 10_000;
/** Bytes of output kept of a helper command. */
export const helperOutputBytesMax = 64 * 1024;
/** Bytes of each stream kept of a command run inside a container. */
export const execOutputBytesMax = 1024 * 1024;
/** How long a container may take from being launched to running its command. */
export const containerStartTimeoutMs = 30_000;
/** How long a killed container may take to be gone before that is an error. */
export const killTimeoutMs = 10_000;
/** How often running containers are checked for having vanished without a word. */
export const livenessCheckPeriodMs = 2_000;
/** Containers kept in one runtime's state, dead ones included. */
export const containerCountMax = 4_096;
/** Pod sandboxes kept in one runtime's state. */
export const sandboxCountMax = 1_024;
/** Smallest and largest prefix of a node's pod CIDR: 14 to 65,534 pods. */
export const podCidrPrefixMin = 16;
export const podCidrPrefixMax = 28;
/** Mounts of one container. */
export const mountCountMax = 256;
/** Size of each small tmpfs of a container: its root, its overlays' upper layers, /dev and /dev/shm. */
export const scratchTmpfsSize = '64m';
/** Longest termination message of one container, and of all containers of a pod together. */
export const terminationMessageBytesMax = 4_096;
export const terminationMessagesBytesMax = 12 * 1024;
/** What a termination message taken from the log holds at most. */
export const terminationFallbackBytesMax = 2_048;
export const terminationFallbackLineCountMax = 80;
/** One read of a log file. */
export const logChunkBytes = 64 * 1024;
/** How often a followed log is looked at. */
export const logPollPeriodMs = 200;
/** How often while somebody types into a container's terminal. Higher: a slower echo; lower: more CPU. */
export const promptPollPeriodMs = 30;
/** How often running containers' logs are measured for rotation. */
export const logRotationPeriodMs = 10_000;
/** Body of a probe's answer that is read and, cut further, shown in events. */
export const probeBodyBytesMax = 10 * 1024;
/** Config maps and secrets watched for the pods of the node. */
export const watchedObjectCountMax = 2_000;
/** How long a config map or secret may take to be known for the first time. */
export const objectSyncTimeoutMs = 10_000;
/** Tokens of service accounts held for the pods of the node. */
export const accountTokenCountMax = 4_000;
/** Life of a service account token whose volume does not say. */
export const accountTokenSecondsDefault = 3_600;
/** Pods on one node, finished ones included, whatever `--max-pods` says of running ones. */
export const podCountMax = 1_000;
/** Longest a postStart hook may take; the container is not ready before. */
export const hookTimeoutMs = 10 * 60_000;
/** Time a container gets to end on TERM after a preStop hook has used up the grace period. */
export const terminationGraceMinMs = 2_000;
/** How often a pod is looked at without a reason: repairs what no event told of. */
export const podResyncPeriodMs = 10_000;
/** Wait after a failed sync of a pod: first and longest. */
export const podRetryInitialMs = 500;
export const podRetryMaxMs = 60_000;
/** Pause before restarts of a container that keeps ending: first and longest. */
export const restartBackoffInitialMs = 10_000;
export const restartBackoffMaxMs = 300_000;
/** Restarts remembered for back-off. */
export const restartBackoffEntryCountMax = 10_000;
/** Finished runs kept of each container, for its last state and its previous log. */
export const deadRunsKept = 1;
/** A config map or secret is watched until it has not been used for this long. */
export const objectIdleMs = 120_000;
/** The node's status is written at least this often, changed or not. */
export const nodeStatusReportPeriodMs = 5 * 60_000;
/** How long to wait for a first list from the API server before saying that it does not come. */
export const informerSyncTimeoutMs = 30_000;
/** Bytes of a terminal's name; longer is none. */
export const terminalNameBytesMax = 64;
/** How long a connection to a port of a pod may take to be made. */
export const podDialTimeoutMs = 10_000;
/** A helper that makes connections inside a pod ends when none was asked for during this time. */
export const podDialerIdleMs = 30_000;
/** Commands and forwarded connections' clients of one agent at a time. */
export const streamingSessionsMax = 500;
/** Longest run of a command whose output is answered as a whole. */
export const commandRunTimeoutMs = 60_000;

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

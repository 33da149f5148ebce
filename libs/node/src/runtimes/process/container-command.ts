/** The host command lines that start a container and run a command inside it. Pure. */
import { type IsolationMode, namespaceOptions } from './isolation.js';
import type { ContainerRecord } from './state.js';

export interface ContainerEntry {
  readonly mode: IsolationMode;
  readonly shimPid: number;
  readonly hostPid: boolean;
  readonly config: ContainerRecord['config'];
  /** The host directory of the container's private root. */
  readonly rootDirectory: string;
  /** `NAME=value`. */
  readonly environment: readonly string[];
}

/** Returns the command line on the host that runs `command` inside the container. */
export function commandInside(entry: ContainerEntry, command: readonly string[]): string[] {
  const { mode, shimPid, hostPid, config, rootDirectory, environment } = entry;
  const groups = config.user?.supplementalGroups.join(',') ?? '';
  const user = config.user
    ? [`--userspec=${config.user.uid}:${config.user.gid}`, `--groups=${groups}`]
    : [];
  const wrapper =
    mode === 'isolated'
      ? [
          ...['nsenter', `--target=${shimPid}`, '--mount', '--uts', '--net'],
          ...(hostPid ? [] : ['--pid']),
          ...['chroot', ...user, rootDirectory],
        ]
      : config.user
        ? ['chroot', ...user, '/']
        : [];
  const directory = config.workingDirectory || '/';
  return [...wrapper, 'env', '-i', '-C', directory, ...environment, ...command];
}

/**
 * Returns the command prefix that creates the namespaces of a container. `networkNamespace` is the
 * path of the pod's network namespace; undefined with the network of the host.
 */
export function namespaceWrapper(
  mode: IsolationMode,
  networkNamespace: string | undefined,
  hostPid: boolean,
): string[] {
  if (mode === 'plain') return [];
  const enter = networkNamespace ? ['nsenter', `--net=${networkNamespace}`] : [];
  return [...enter, 'unshare', ...namespaceOptions(hostPid)];
}

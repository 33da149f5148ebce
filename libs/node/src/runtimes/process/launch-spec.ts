/** Computes the input of a container's supervisor from the configuration of the container. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type ContainerConfig, type Mount, RuntimeError } from '../container-runtime.js';
import { hostTree } from './host-tree.js';
import type { IsolationMode } from './isolation.js';
import { planMounts } from './mount-plan.js';
import type { ShimInput } from './state.js';

export interface LaunchContext {
  readonly mode: IsolationMode;
  readonly directory: string;
  readonly exitFile: string;
  readonly logPath: string;
  /** Empty with the host's network. */
  readonly hostname: string;
  readonly hostPid: boolean;
}

/**
 * Throws `InvalidImage` without a command, and `InvalidConfig` if the mode does not support the
 * configuration.
 */
export function shimInput(config: ContainerConfig, context: LaunchContext): ShimInput {
  if (config.command.length === 0) {
    const message = `the process runtime has no images: container "${config.name}" (${config.image}) needs "command"`;
    throw new RuntimeError('InvalidImage', message);
  }
  const isolated = context.mode === 'isolated';
  const environment = new Map([
    ['PATH', process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'],
    ['HOME', '/root'],
    ...(config.tty ? [['TERM', 'xterm'] as const] : []),
    ...(context.hostname === '' ? [] : [['HOSTNAME', context.hostname] as const]),
    ...config.environment.map(({ name, value }) => [name, value] as const),
  ]);
  const searchPath = environment.get('PATH') ?? '';
  const [program, ...rest] = config.command;
  const argv = [resolveNode(program!, searchPath), ...rest, ...config.args];
  checkNoNul([...argv, ...environment.keys(), ...environment.values()]);
  const rootDirectory = join(context.directory, 'root');
  const mounts = isolated
    ? planMounts(
        {
          mounts: config.mounts,
          rootDirectory,
          scratchDirectory: join(context.directory, 'scratch'),
          hostPid: context.hostPid,
          readOnlyRoot: config.readOnlyRoot ?? false,
        },
        hostTree,
      )
    : checkPlainMounts(config.mounts);
  return {
    settings: {
      exitFile: context.exitFile,
      logPath: context.logPath,
      rootDirectory: isolated ? rootDirectory : '',
      workingDirectory: config.workingDirectory || '/',
      searchPath,
      hostname: isolated ? context.hostname : '',
      user: config.user ? `${config.user.uid}:${config.user.gid}` : '',
      groups: config.user?.supplementalGroups.join(',') ?? '',
      input: config.stdin ? 'open' : '',
      terminal: config.tty ? 'own' : '',
    },
    argv,
    environment: [...environment].map(([name, value]) => `${name}=${value}`),
    mounts,
  };
}

/** Resolves `node` to the binary of the agent if it is not in `searchPath`. */
function resolveNode(program: string, searchPath: string): string {
  if (program !== 'node' || isInPath(program, searchPath)) return program;
  return process.execPath;
}

function isInPath(program: string, searchPath: string): boolean {
  return searchPath
    .split(delimiter)
    .filter(Boolean)
    .some((directory) => isExecutable(join(directory, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing or not permitted: in both cases the program cannot be run.
    return false;
  }
}

/**
 * Rejects mounts that need a mount namespace: those with another path than on the host, or
 * read-only.
 */
function checkPlainMounts(mounts: readonly Mount[]): [] {
  const misplaced = mounts.find(
    (mount) => !mount.optional && (mount.hostPath !== mount.containerPath || mount.readOnly),
  );
  if (misplaced) {
    const message = `without mount namespaces nothing can be mounted at ${misplaced.containerPath}`;
    throw new RuntimeError('InvalidConfig', message);
  }
  return [];
}

function checkNoNul(values: readonly string[]): void {
  if (values.some((value) => value.includes('\0'))) {
    throw new RuntimeError('InvalidConfig', 'arguments and environment cannot hold NUL bytes');
  }
}

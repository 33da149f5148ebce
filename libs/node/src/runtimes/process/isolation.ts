/**
 * Detects, by trying, how containers can be isolated on this host. `isolated`: a network namespace
 * per pod, and process, mount and host name namespaces per container. `plain`: process groups only.
 */
import { errorMessage } from '@orch/component';
import { RuntimeError } from '../container-runtime.js';
import { runHelper } from './helper-command.js';

const isolationModes = ['isolated', 'plain'] as const;
export type IsolationMode = (typeof isolationModes)[number];
export const isolationSettings = ['auto', ...isolationModes] as const;
export type IsolationSetting = (typeof isolationSettings)[number];

export interface Isolation {
  readonly mode: IsolationMode;
  /** The reason why the mode is not `isolated`. */
  readonly reason?: string;
}

/** Returns the options of `unshare` for one container. */
export function namespaceOptions(hostPid: boolean): string[] {
  return ['--mount', '--uts', '--propagation', 'private', ...(hostPid ? [] : ['--pid'])];
}

/** Rejects with `Internal` if a tool that every mode needs is missing. */
export async function checkTools(): Promise<void> {
  const script =
    '((BASH_VERSINFO[0] >= 5)) && setsid env -i --default-signal=INT -C / true && type mkfifo';
  try {
    await runHelper('bash', ['-c', script]);
  } catch (cause) {
    const message = 'the process runtime needs bash 5, util-linux and coreutils 8.31 or later';
    throw new RuntimeError('Internal', message, { cause });
  }
}

export async function probeIsolation(setting: IsolationSetting): Promise<Isolation> {
  if (setting === 'plain') return { mode: 'plain', reason: 'chosen by option' };
  try {
    const inside =
      'mount -t tmpfs tmpfs /mnt && mount -t proc proc /proc && printf probe >/proc/sys/kernel/hostname';
    await runHelper('unshare', [...namespaceOptions(false), '--fork', 'bash', '-c', inside]);
    const name = `probe${process.pid}`;
    await runHelper('ip', ['-batch', '-'], `netns add ${name}\nnetns delete ${name}\n`);
    return { mode: 'isolated' };
  } catch (error) {
    if (setting === 'isolated') throw error;
    return { mode: 'plain', reason: errorMessage(error) };
  }
}

/** Which run of a container a log is read of, and why there is none. Pure. */
import type { ContainerStatus } from '../runtimes/container-runtime.js';

/**
 * `runs`: of one container; `waits`: it is to be started again. The run before, where `previous`, is the
 * last that has ended: that of a container which waits is therefore its newest.
 */
export function runWithLog(
  runs: readonly ContainerStatus[],
  waits: boolean,
  previous: boolean,
): ContainerStatus | undefined {
  const [latest, before] = runs
    .filter(({ state }) => state !== 'created')
    .sort((left, right) => right.attempt - left.attempt);
  if (!previous) return latest;
  const isUnstarted = runs.some(({ state }) => state === 'created');
  return latest?.state === 'exited' && (waits || isUnstarted) ? latest : before;
}

const pullReasons: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

/** `reason`: of the waiting state, absent where it has not been told yet. */
export function reasonToWait(reason: string | undefined): string {
  return pullReasons[reason ?? ''] ?? reason ?? 'ContainerCreating';
}

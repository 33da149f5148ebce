/** Selects the run of a container whose log is served. Pure. */
import type { ContainerStatus } from '../runtimes/container-runtime.js';

/**
 * Returns the run whose log is served; undefined if there is none. `runs` are all runs of one
 * container, `waits` whether it is about to restart. With `previous`, returns the last run that has
 * ended, which is the newest run of a waiting container.
 */
export function selectRun(
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

/**
 * Returns the reason in an error message for the `reason` of the waiting state, if reported yet.
 */
export function waitingReason(reason: string | undefined): string {
  return pullReasons[reason ?? ''] ?? reason ?? 'ContainerCreating';
}

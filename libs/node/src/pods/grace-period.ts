/** How long a container may take to end. Pure. */
import type { Pod } from '@orch/types/core/v1';
import type { ContainerStatus } from '../runtimes/container-runtime.js';
import { annotationKeys, mainContainersOf } from './pod-view.js';

/** For a pod that does not say. */
export const graceSecondsDefault = 30;

/**
 * As the deletion says, else the failed probe, else the pod. What was noted at the container's start
 * counts where the pod is not known any more.
 */
export function graceMs(
  pod: Pod,
  run: ContainerStatus,
  probe?: 'startup' | 'liveness' | 'readiness',
): number {
  const recorded = Number(run.annotations[annotationKeys.graceSeconds] ?? graceSecondsDefault);
  const { deletionGracePeriodSeconds, deletionTimestamp } = pod.metadata ?? {};
  if (deletionTimestamp) return (deletionGracePeriodSeconds ?? recorded) * 1000;
  const container = mainContainersOf(pod).find(({ name }) => name === run.name);
  const own =
    probe === 'startup' ? container?.startupProbe : probe ? container?.livenessProbe : undefined;
  const seconds = own?.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds;
  return (seconds ?? recorded) * 1000;
}

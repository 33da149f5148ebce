/** The grace period of a container. Pure. */
import type { Pod } from '@orch/types/core/v1';
import type { ContainerStatus } from '../runtimes/container-runtime.js';
import { annotationKeys, mainContainersOf } from './pod-view.js';

/** Used if the pod sets no grace period. */
export const graceSecondsDefault = 30;

/**
 * Returns the grace period of the deletion, else of the failed probe, else of the pod. If the pod
 * is no longer known, returns the period recorded at the start of the container.
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

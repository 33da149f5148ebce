/**
 * The life of a pod on a hollow node, as moments of the monotonic clock: what the node reports now,
 * and when that changes. Pure.
 */
import type { Pod } from '@orch/types/core/v1';
import { graceSecondsDefault } from '../pods/grace-period.js';
import { allContainersOf, hasEnded } from '../pods/pod-view.js';

export interface PodDelays {
  readonly startDelayMs: number;
  readonly readyDelayMs: number;
  readonly terminationDelayMs: number;
  /** 0: pods do not complete. */
  readonly runDurationMs: number;
}

/** What a node remembers of a pod. */
export interface PodMoments {
  /** When the containers start, or have started according to the API. */
  readonly startMs: number;
  /** When the deletion of the pod was observed. */
  readonly deletedMs?: number;
}

export interface PodStep {
  readonly state: 'waiting' | 'running' | 'succeeded' | 'ending' | 'removed' | 'ended';
  /** Whether readiness and startup probes succeed. */
  readonly isReady: boolean;
  /** When containers ended that have run, in the states `succeeded` and `removed`. */
  readonly finishedMs?: number;
  /** The next moment at which the step differs; undefined if only the API can change it. */
  readonly nextMs?: number;
}

export function podStep(
  pod: Pod,
  { startMs, deletedMs }: PodMoments,
  delays: PodDelays,
  nowMs: number,
): PodStep {
  const readyMs = startMs + delays.readyDelayMs;
  const isReady = nowMs >= readyMs;
  if (deletedMs !== undefined) {
    if (hasEnded(pod) || deletedMs < startMs) return { state: 'removed', isReady: false };
    const finishedMs = deletedMs + terminationMs(pod, delays);
    return nowMs < finishedMs
      ? { state: 'ending', isReady, nextMs: finishedMs }
      : { state: 'removed', isReady, finishedMs };
  }
  if (hasEnded(pod)) return { state: 'ended', isReady };
  if (nowMs < startMs) return { state: 'waiting', isReady: false, nextMs: startMs };
  const finishedMs = completes(pod, delays) ? startMs + delays.runDurationMs : undefined;
  if (finishedMs !== undefined && nowMs >= finishedMs) {
    return { state: 'succeeded', isReady: false, finishedMs };
  }
  const waitsForProbe = !isReady && hasProbe(pod);
  const moments = [...(waitsForProbe ? [readyMs] : []), ...(finishedMs ? [finishedMs] : [])];
  const nextMs = moments.length > 0 ? Math.min(...moments) : undefined;
  return { state: 'running', isReady, ...(nextMs === undefined ? {} : { nextMs }) };
}

function completes({ spec }: Pod, { runDurationMs }: PodDelays): boolean {
  return runDurationMs > 0 && (spec?.restartPolicy ?? 'Always') !== 'Always';
}

function hasProbe(pod: Pod): boolean {
  return allContainersOf(pod).some(
    ({ readinessProbe, startupProbe }) => readinessProbe || startupProbe,
  );
}

function terminationMs({ metadata, spec }: Pod, { terminationDelayMs }: PodDelays): number {
  const graceSeconds =
    metadata?.deletionGracePeriodSeconds ??
    spec?.terminationGracePeriodSeconds ??
    graceSecondsDefault;
  return Math.min(terminationDelayMs, graceSeconds * 1000);
}

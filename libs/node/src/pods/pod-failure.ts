/**
 * The reason for which the agent ends a pod: the pod has exceeded its active deadline, or its
 * status in the API is already Failed. A reason is permanent.
 */
import { parseTime } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import type { PodIdentity } from '../runtimes/container-runtime.js';
import { type PodContext, podReference } from './pod-context.js';

export interface FailureReason {
  readonly reason: string;
  readonly message: string;
}

export class PodFailure {
  private found: FailureReason | undefined;

  constructor(
    private readonly context: Pick<PodContext, 'clock' | 'recorder'>,
    private readonly identity: PodIdentity,
  ) {}

  /** The reason found by the last `check`. */
  get current(): FailureReason | undefined {
    return this.found;
  }

  /**
   * Returns the reason to end the pod; undefined if there is none. Records an event for an exceeded
   * deadline.
   */
  check(pod: Pod): FailureReason | undefined {
    const { spec, status } = pod;
    if (this.found) return this.found;
    if (status?.phase === 'Failed' && status.reason) {
      this.found = { reason: status.reason, message: status.message ?? '' };
      return this.found;
    }
    if (spec?.activeDeadlineSeconds === undefined || this.deadlineLeftMs(pod) > 0) return undefined;
    const message = 'Pod was active on the node longer than the specified deadline';
    this.found = { reason: 'DeadlineExceeded', message };
    const regarding = podReference(this.identity);
    this.context.recorder.event(regarding, 'Normal', 'DeadlineExceeded', message);
    return this.found;
  }

  deadlineLeftMs({ spec, status }: Pod): number {
    const startedMs = parseTime(status?.startTime);
    if (spec?.activeDeadlineSeconds === undefined || startedMs === undefined) {
      return Number.POSITIVE_INFINITY;
    }
    return startedMs + spec.activeDeadlineSeconds * 1000 - this.context.clock.nowMs();
  }
}

/**
 * Why the agent ends a pod for a reason of its own: the pod was active for too long, or has been failed
 * before. Once there is a reason it stays.
 */
import { parseTime } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import { type PodContext, type PodIdentityFields, podReference } from './pod-context.js';

export interface FailureReason {
  readonly reason: string;
  readonly message: string;
}

export class PodFailure {
  private found: FailureReason | undefined;

  constructor(
    private readonly context: Pick<PodContext, 'clock' | 'recorder'>,
    private readonly identity: PodIdentityFields,
  ) {}

  /** As found by the last `check`. */
  get current(): FailureReason | undefined {
    return this.found;
  }

  /** Looks at the pod; an event tells of a deadline that has passed. */
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

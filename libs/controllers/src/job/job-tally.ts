/**
 * Counts the finished pods of one job, including pods that were deleted after they were counted.
 * The status is the base after a restart: if it counts more than there are pods, the rest was
 * deleted. Invariant: a finished pod is counted exactly once while the tally exists.
 */
import type { Job } from '@orch/types/batch/v1';
import type { Pod } from '@orch/types/core/v1';

export interface FinishedCounts {
  readonly succeeded: number;
  readonly failed: number;
}

class PhaseTally {
  private deletedCount = 0;
  private present: ReadonlySet<string> = new Set();

  constructor(
    private readonly phase: string,
    pods: readonly Pod[],
    statusCount: number,
  ) {
    this.present = this.uidsOf(pods);
    this.deletedCount = Math.max(0, statusCount - this.present.size);
  }

  count(pods: readonly Pod[], exists: (uid: string) => boolean): number {
    const current = this.uidsOf(pods);
    // A pod that still exists was released: it does not belong to the job any more.
    for (const uid of this.present) if (!current.has(uid) && !exists(uid)) this.deletedCount += 1;
    this.present = current;
    return this.deletedCount + current.size;
  }

  private uidsOf(pods: readonly Pod[]): Set<string> {
    const finished = pods.filter(({ status }) => status?.phase === this.phase);
    return new Set(finished.map(({ metadata }) => metadata?.uid ?? ''));
  }
}

export class JobTally {
  private readonly succeeded: PhaseTally;
  private readonly failed: PhaseTally;

  constructor({ status }: Job, pods: readonly Pod[]) {
    this.succeeded = new PhaseTally('Succeeded', pods, status?.succeeded ?? 0);
    this.failed = new PhaseTally('Failed', pods, status?.failed ?? 0);
  }

  /**
   * @param pods the pods of the job in the cache.
   * @param exists whether the cache has a pod of this uid, of whatever owner.
   */
  count(pods: readonly Pod[], exists: (uid: string) => boolean): FinishedCounts {
    return {
      succeeded: this.succeeded.count(pods, exists),
      failed: this.failed.count(pods, exists),
    };
  }
}

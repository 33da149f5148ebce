/**
 * Writes the condition `PodScheduled=False` of unschedulable pods, with the nominated node, in the
 * background. Skips pods that already have them; of several waiting writes for one pod only the
 * latest is sent.
 */
import { conditionOf, formatTime } from '@orch/apimachinery';
import { type ApiClient, isNotFound, resources } from '@orch/client';
import type { Clock, Logger } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { requestTimeoutMs, statusConcurrencyMax, statusQueueMax } from '../limits.js';
import { podKey } from '../model/pod-info.js';

export interface SchedulingFailure {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  /** Set if a preemption makes room for the pod. */
  readonly nominatedNode?: string;
  /** Whether to remove an earlier nomination. */
  readonly clearsNomination?: boolean;
}

interface PendingStatus {
  readonly pod: Pod;
  readonly status: (nowText: string) => object;
}

export class ConditionWriter {
  private readonly waiting = new Map<string, PendingStatus>();
  private runningCount = 0;

  constructor(
    private readonly client: ApiClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Queues the condition for writing. */
  write(pod: Pod, failure: SchedulingFailure): void {
    const { reason, message, nominatedNode, clearsNomination } = failure;
    const current = conditionOf(pod.status?.conditions, 'PodScheduled');
    const isSame =
      current?.status === 'False' && current.reason === reason && current.message === message;
    const nomination = nominationPatch(pod, nominatedNode, clearsNomination);
    if (isSame && !nomination) return;
    const transitionTime = current?.status === 'False' ? current.lastTransitionTime : undefined;
    this.queue(pod, (now) => ({
      conditions: [
        {
          ...{ type: 'PodScheduled', status: 'False', reason, message },
          lastProbeTime: null,
          lastTransitionTime: transitionTime ?? now,
        },
      ],
      ...nomination,
    }));
  }

  /** Queues the removal of the nomination. */
  clearNomination(pod: Pod): void {
    const nomination = nominationPatch(pod, undefined, true);
    if (nomination) this.queue(pod, () => nomination);
  }

  private queue(pod: Pod, status: PendingStatus['status']): void {
    const key = podKey(pod);
    this.waiting.delete(key);
    this.waiting.set(key, { pod, status });
    if (this.waiting.size > statusQueueMax) {
      const [oldest] = this.waiting.keys();
      this.waiting.delete(oldest!);
      this.logger.warn({ pod: oldest }, 'too many waiting pod conditions, dropped the oldest');
    }
    this.next();
  }

  private next(): void {
    if (this.runningCount >= statusConcurrencyMax) return;
    const [entry] = this.waiting;
    if (!entry) return;
    const [key, pending] = entry;
    this.waiting.delete(key);
    this.runningCount++;
    this.send(pending)
      .catch((error: unknown) => {
        if (isNotFound(error)) return;
        this.logger.warn({ pod: key, err: error }, 'pod condition could not be written');
      })
      .finally(() => {
        this.runningCount--;
        this.next();
      });
  }

  private async send({ pod, status }: PendingStatus): Promise<void> {
    // The uid prevents writing the condition to a new pod of the same name.
    await this.client.resource(resources.pods, pod.metadata?.namespace).patchStatus(
      pod.metadata?.name ?? '',
      {
        metadata: { uid: pod.metadata?.uid },
        status: status(formatTime(this.clock.nowMs())),
      },
      { type: 'strategic', timeoutMs: requestTimeoutMs },
    );
  }
}

/** Returns undefined if the nomination of the pod does not change. */
function nominationPatch(pod: Pod, node: string | undefined, clears: boolean | undefined) {
  const current = pod.status?.nominatedNodeName;
  if (node) return node === current ? undefined : { nominatedNodeName: node };
  return clears && current ? { nominatedNodeName: null } : undefined;
}

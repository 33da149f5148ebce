/**
 * Writes `PodScheduled=False` into the status of pods that found no node, in the background. A pod
 * whose condition says so already is left alone; of several writes for one pod only the latest is made.
 */
import { conditionOf, formatTime } from '@orch/apimachinery';
import { isNotFound, type RestClient, resources } from '@orch/client';
import type { Clock, Logger } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { requestTimeoutMs, statusConcurrencyMax, statusQueueMax } from '../limits.js';
import { podKey } from '../model/pod-info.js';

interface Refusal {
  readonly pod: Pod;
  readonly reason: string;
  readonly message: string;
}

export class ConditionWriter {
  private readonly waiting = new Map<string, Refusal>();
  private runningCount = 0;

  constructor(
    private readonly client: RestClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  refused(pod: Pod, reason: string, message: string): void {
    const current = conditionOf(pod.status?.conditions, 'PodScheduled');
    if (current?.status === 'False' && current.reason === reason && current.message === message) {
      return;
    }
    const key = podKey(pod);
    this.waiting.delete(key);
    this.waiting.set(key, { pod, reason, message });
    if (this.waiting.size > statusQueueMax) {
      const [oldest] = this.waiting.keys();
      this.waiting.delete(oldest!);
      this.logger.warn({ pod: oldest }, 'too many conditions to write, one was dropped');
    }
    this.next();
  }

  private next(): void {
    if (this.runningCount >= statusConcurrencyMax) return;
    const [entry] = this.waiting;
    if (!entry) return;
    const [key, refusal] = entry;
    this.waiting.delete(key);
    this.runningCount++;
    this.write(refusal)
      .catch((error: unknown) => {
        if (isNotFound(error)) return;
        this.logger.warn({ pod: key, err: error }, 'pod condition could not be written');
      })
      .finally(() => {
        this.runningCount--;
        this.next();
      });
  }

  private async write({ pod, reason, message }: Refusal): Promise<void> {
    const current = conditionOf(pod.status?.conditions, 'PodScheduled');
    const now = formatTime(this.clock.nowMs());
    const lastTransitionTime =
      current?.status === 'False' ? (current.lastTransitionTime ?? now) : now;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastProbeTime: null,
      lastTransitionTime,
    };
    // The uid keeps the condition from a newer pod of the same name.
    await this.client
      .resource(resources.pods, pod.metadata?.namespace)
      .patchStatus(
        pod.metadata?.name ?? '',
        { metadata: { uid: pod.metadata?.uid }, status: { conditions: [condition] } },
        { type: 'strategic', timeoutMs: requestTimeoutMs },
      );
  }
}

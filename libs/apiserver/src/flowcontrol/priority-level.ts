/** An active priority level: its queues and its utilisation. */
import type { Timer } from '@orch/component';
import type { PriorityLevelConfiguration } from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { Ratios } from '../observability/flow-control-metrics.js';
import { type LevelPlan, nameOf } from './configuration.js';
import { QueueSet, type Ticket } from './queue-set.js';

/** `Request`: the items of its queues. */
export class PriorityLevel<Request> {
  readonly name: string;
  /** Undefined: the level is unlimited. */
  readonly queues: QueueSet<Request> | undefined;
  isQuiescing = false;
  /** Fires when the oldest waiting request times out; undefined while no request waits. */
  expiry: Timer | undefined;
  private current: PriorityLevelConfiguration;

  constructor(
    { object, seatCount }: LevelPlan,
    private readonly waitMs: number,
    private readonly ratios: Ratios,
    nowMs: number,
  ) {
    this.name = nameOf(object);
    this.current = object;
    if (seatCount !== undefined) this.queues = new QueueSet(this.limits(seatCount), nowMs);
  }

  get object(): PriorityLevelConfiguration {
    return this.current;
  }

  get uid(): string {
    return this.current.metadata?.uid ?? '';
  }

  get isIdle(): boolean {
    return this.queues?.isIdle ?? true;
  }

  /** Zero queues if the level rejects excess requests. */
  get queuing(): { readonly queueCount: number; readonly handSize: number } {
    const { type, queuing } = this.current.spec?.limited?.limitResponse ?? {};
    if (type !== 'Queue') return { queueCount: 0, handSize: 0 };
    return { queueCount: queuing?.queues ?? 0, handSize: queuing?.handSize ?? 0 };
  }

  /** Returns the waiting requests that now execute. */
  configure({ object, seatCount, isQuiescing }: LevelPlan, nowMs: number): Ticket<Request>[] {
    this.current = object;
    this.isQuiescing = isQuiescing;
    if (seatCount === undefined || !this.queues) return [];
    const limits = this.limits(seatCount);
    this.ratios.waiting.setLimit(limits.queueLengthMax || 1, nowMs);
    this.ratios.executing.setLimit(seatCount, nowMs);
    return this.queues.configure(limits, nowMs);
  }

  /** Must be called after every change of the waiting or executing requests. */
  sample(nowMs: number): void {
    if (!this.queues) return;
    this.ratios.waiting.set(this.queues.waitingCount, nowMs);
    this.ratios.executing.set(this.queues.executingCount, nowMs);
  }

  private limits(seatCount: number) {
    const { queueCount } = this.queuing;
    const { queuing } = this.current.spec?.limited?.limitResponse ?? {};
    const queueLengthMax = queuing?.queueLengthLimit ?? 0;
    return { seatCount, queueCount, queueLengthMax, waitMs: this.waitMs };
  }
}

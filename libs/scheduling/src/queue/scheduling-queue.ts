/**
 * The queue of pods without a node. A pod is in one of four states: active (ready, in the order of
 * the QueueSort plugin), backing off (retried after its pause), unschedulable (retried after a
 * change in the cluster, or after a time limit), or in flight (being scheduled). The queue has no
 * timers: the owner calls `flush` periodically.
 */
import { backoffMs, type Clock } from '@orch/component';
import {
  backoffInitialMs,
  backoffMaxMs,
  expiredRetryCountMax,
  queuedPodCountMax,
  unschedulableStayMs,
} from '../limits.js';
import type { PodInfo } from '../model/pod-info.js';
import { KeyedHeap } from './heap.js';
import { UnschedulablePods } from './unschedulable-pods.js';

export interface QueuedPod {
  readonly key: string;
  readonly info: PodInfo;
  /** Order of arrival; unchanged by attempts. */
  readonly arrival: number;
  /** When the pod was first added. */
  readonly addedAtMs: number;
  /** Number of attempts. */
  readonly attempts: number;
  /** When the last attempt failed. */
  readonly failedAtMs: number;
  /**
   * The number of moves at the start of the attempt; after a later move its failure may be stale.
   */
  readonly movesSeen: number;
  /** The plugins that rejected the pod in its last attempt. */
  readonly rejectedBy: ReadonlySet<string>;
}

/** Where a pod is in the queue. */
export interface WaitingState {
  readonly state: 'active' | 'backing off' | 'unschedulable' | 'in flight';
  readonly attempts: number;
  /** Until the next attempt at the latest; undefined if that depends on other pods only. */
  readonly retryInMs?: number;
}

/** Whether `a` is scheduled before `b`. */
export type QueueOrder = (a: QueuedPod, b: QueuedPod) => boolean;

export interface QueueLimits {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  readonly podCountMax: number;
}

const defaultLimits: QueueLimits = {
  backoffInitialMs,
  backoffMaxMs,
  podCountMax: queuedPodCountMax,
};

export class SchedulingQueue {
  private readonly active: KeyedHeap<QueuedPod>;
  private readonly backingOff: KeyedHeap<QueuedPod>;
  private readonly unschedulable = new UnschedulablePods<QueuedPod>();
  private readonly inFlight = new Map<string, QueuedPod>();
  private arrivals = 0;
  private moves = 0;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    before: QueueOrder,
    private readonly limits: QueueLimits = defaultLimits,
  ) {
    this.active = new KeyedHeap(before);
    this.backingOff = new KeyedHeap((a, b) => this.backoffEndMs(a) < this.backoffEndMs(b));
  }

  get sizes(): { active: number; backoff: number; unschedulable: number } {
    return {
      active: this.active.size,
      backoff: this.backingOff.size,
      unschedulable: this.unschedulable.size,
    };
  }

  /** Adds a pod without a node. Returns false if the queue is full. */
  add(info: PodInfo): boolean {
    if (this.find(info.key)) {
      this.update(info);
      return true;
    }
    const { active, backoff, unschedulable } = this.sizes;
    if (active + backoff + unschedulable + this.inFlight.size >= this.limits.podCountMax)
      return false;
    this.active.push({
      key: info.key,
      info,
      arrival: this.arrivals++,
      addedAtMs: this.clock.monotonicMs(),
      attempts: 0,
      failedAtMs: 0,
      movesSeen: 0,
      rejectedBy: new Set(),
    });
    return true;
  }

  /**
   * Updates a waiting pod. `mayHelp` is whether the change may make the pod schedulable, so that an
   * unschedulable pod is retried; changes of its status do not.
   */
  update(info: PodInfo, mayHelp = true): void {
    const entry = this.find(info.key);
    if (!entry) {
      this.add(info);
      return;
    }
    const updated = { ...entry, info };
    if (this.inFlight.has(info.key)) this.inFlight.set(info.key, updated);
    else if (this.active.get(info.key)) this.active.push(updated);
    else if (this.backingOff.get(info.key)) this.backingOff.push(updated);
    else if (mayHelp) {
      this.unschedulable.delete(info.key);
      this.activate(updated);
    } else this.unschedulable.set(updated);
  }

  /** Removes a pod that was deleted or has a node. */
  delete(key: string): void {
    this.inFlight.delete(key);
    this.active.remove(key);
    this.backingOff.remove(key);
    this.unschedulable.delete(key);
  }

  /** Returns the next pod, which is in flight until `done` or `failed`. */
  take(): QueuedPod | undefined {
    const next = this.active.pop();
    if (!next) return undefined;
    const entry = { ...next, attempts: next.attempts + 1, movesSeen: this.moves };
    this.inFlight.set(entry.key, entry);
    return entry;
  }

  /** Removes a pod in flight that is scheduled. */
  done(key: string): void {
    this.inFlight.delete(key);
  }

  /**
   * Returns an in-flight pod without a feasible node to the queue. It waits for a change that
   * concerns one of the plugins that rejected it; only for its back-off if a change occurred during
   * the attempt.
   */
  failed(key: string, rejectedBy: ReadonlySet<string> = new Set()): void {
    const entry = this.inFlight.get(key);
    if (!entry) return;
    this.inFlight.delete(key);
    const failed = { ...entry, rejectedBy, failedAtMs: this.clock.monotonicMs() };
    if (failed.movesSeen !== this.moves) this.backingOff.push(failed);
    else this.unschedulable.set(failed);
  }

  /**
   * Retries an in-flight pod after its back-off: the cause was not the state of the cluster.
   * Returns false if the pod is not in flight any more.
   */
  retry(key: string): boolean {
    const entry = this.inFlight.get(key);
    if (!entry) return false;
    this.inFlight.delete(key);
    this.backingOff.push({ ...entry, failedAtMs: this.clock.monotonicMs() });
    return true;
  }

  /**
   * Retries the unschedulable pods that a change may have made schedulable: rejected by one of
   * `plugins`, and selected by `concerns`.
   */
  moveRejected(
    plugins: Iterable<string>,
    concerns: (entry: QueuedPod) => boolean = () => true,
  ): void {
    this.moves++;
    for (const entry of this.unschedulable.rejectedBy(plugins)) {
      if (!concerns(entry)) continue;
      this.unschedulable.delete(entry.key);
      this.activate(entry);
    }
  }

  /** Retries a pod that waits for a change. */
  move(key: string): void {
    const entry = this.unschedulable.delete(key);
    if (entry) this.activate(entry);
  }

  /** Activates pods whose pause or time limit has expired. */
  flush(): void {
    const nowMs = this.clock.monotonicMs();
    for (let next = this.backingOff.peek(); next; next = this.backingOff.peek()) {
      if (this.backoffEndMs(next) > nowMs) break;
      this.backingOff.pop();
      this.active.push(next);
    }
    const expired: QueuedPod[] = [];
    for (const entry of this.unschedulable.values()) {
      if (expired.length === expiredRetryCountMax) break;
      if (nowMs - entry.failedAtMs >= unschedulableStayMs) expired.push(entry);
    }
    for (const entry of expired) {
      this.unschedulable.delete(entry.key);
      this.activate(entry);
    }
  }

  /**
   * Returns the milliseconds until the next back-off expires; undefined if no pod is backing off.
   */
  nextBackoffMs(): number | undefined {
    const next = this.backingOff.peek();
    return next && Math.max(0, this.backoffEndMs(next) - this.clock.monotonicMs());
  }

  /** Returns undefined if the pod is not in the queue. */
  waitingState(key: string): WaitingState | undefined {
    const entry = this.find(key);
    if (!entry) return undefined;
    const { attempts, failedAtMs } = entry;
    const until = (endMs: number) => Math.max(0, endMs - this.clock.monotonicMs());
    if (this.inFlight.has(key)) return { state: 'in flight', attempts };
    if (this.active.get(key)) return { state: 'active', attempts };
    if (this.backingOff.get(key)) {
      return { state: 'backing off', attempts, retryInMs: until(this.backoffEndMs(entry)) };
    }
    const retryInMs = until(failedAtMs + unschedulableStayMs);
    return { state: 'unschedulable', attempts, retryInMs };
  }

  private activate(entry: QueuedPod): void {
    if (this.backoffEndMs(entry) > this.clock.monotonicMs()) this.backingOff.push(entry);
    else this.active.push(entry);
  }

  private backoffEndMs(entry: QueuedPod): number {
    if (entry.attempts === 0) return 0;
    const { backoffInitialMs: initialMs, backoffMaxMs: maxMs } = this.limits;
    // Without jitter: the pods of one queue are scheduled one after the other.
    const options = { initialMs, maxMs, factor: 2, jitter: 0, random: () => 0 };
    return entry.failedAtMs + backoffMs(entry.attempts, options);
  }

  private find(key: string): QueuedPod | undefined {
    return (
      this.inFlight.get(key) ??
      this.active.get(key) ??
      this.backingOff.get(key) ??
      this.unschedulable.get(key)
    );
  }
}

/**
 * The pods that wait for a node. A pod is in one place: active (to be tried now: by priority, then by
 * arrival), backing off (tried again when its wait is over), unschedulable (tried again when something
 * in the cluster changed, or after a while all the same), or taken (being tried now).
 * No timers here: the owner calls `flush` now and then. Time comes from the injected clock.
 */
import type { Clock } from '@orch/component';
import {
  backoffInitialMs,
  backoffMaxMs,
  queuedPodCountMax,
  unschedulableStayMs,
} from '../limits.js';
import type { PodInfo } from '../model/pod-info.js';
import { KeyedHeap } from './heap.js';

export interface QueuedPod {
  readonly key: string;
  readonly info: PodInfo;
  /** Order of arrival; kept over attempts. */
  readonly arrival: number;
  /** When it was seen first. */
  readonly addedAtMs: number;
  /** Times it was taken. */
  readonly attempts: number;
  /** When it last failed. */
  readonly failedAtMs: number;
  /** The number of moves when it was taken: a later move means that the failure may be outdated. */
  readonly movesSeen: number;
}

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
  private readonly active = new KeyedHeap<QueuedPod>(
    (a, b) =>
      a.info.priority > b.info.priority ||
      (a.info.priority === b.info.priority && a.arrival < b.arrival),
  );
  private readonly backingOff: KeyedHeap<QueuedPod>;
  private readonly unschedulable = new Map<string, QueuedPod>();
  private readonly taken = new Map<string, QueuedPod>();
  private arrivals = 0;
  private moves = 0;

  constructor(
    private readonly clock: Pick<Clock, 'monotonicMs'>,
    private readonly limits: QueueLimits = defaultLimits,
  ) {
    this.backingOff = new KeyedHeap((a, b) => this.backoffEndMs(a) < this.backoffEndMs(b));
  }

  get sizes(): { active: number; backoff: number; unschedulable: number } {
    return {
      active: this.active.size,
      backoff: this.backingOff.size,
      unschedulable: this.unschedulable.size,
    };
  }

  /** A pod without a node was seen for the first time. False when the queue is full: not taken. */
  add(info: PodInfo): boolean {
    if (this.find(info.key)) {
      this.update(info);
      return true;
    }
    const { active, backoff, unschedulable } = this.sizes;
    if (active + backoff + unschedulable + this.taken.size >= this.limits.podCountMax) return false;
    this.active.push({
      key: info.key,
      info,
      arrival: this.arrivals++,
      addedAtMs: this.clock.monotonicMs(),
      attempts: 0,
      failedAtMs: 0,
      movesSeen: 0,
    });
    return true;
  }

  /**
   * A waiting pod has changed. `mayHelp`: the change is one to the pod itself, not to its status, so an
   * unschedulable pod is worth another try.
   */
  update(info: PodInfo, mayHelp = true): void {
    const entry = this.find(info.key);
    if (!entry) {
      this.add(info);
      return;
    }
    const updated = { ...entry, info };
    if (this.taken.has(info.key)) this.taken.set(info.key, updated);
    else if (this.active.get(info.key)) this.active.push(updated);
    else if (this.backingOff.get(info.key)) this.backingOff.push(updated);
    else if (mayHelp) {
      this.unschedulable.delete(info.key);
      this.activate(updated);
    } else this.unschedulable.set(info.key, updated);
  }

  /** The pod is gone or has a node. */
  delete(key: string): void {
    this.taken.delete(key);
    this.active.remove(key);
    this.backingOff.remove(key);
    this.unschedulable.delete(key);
  }

  /** The next pod to try; it stays taken until `done` or `failed`. */
  take(): QueuedPod | undefined {
    const next = this.active.pop();
    if (!next) return undefined;
    const entry = { ...next, attempts: next.attempts + 1, movesSeen: this.moves };
    this.taken.set(entry.key, entry);
    return entry;
  }

  /** The taken pod has got its node. */
  done(key: string): void {
    this.taken.delete(key);
  }

  /**
   * No node was found for the taken pod. It waits for a change, or only for its back-off when a change
   * came while it was being tried, or when `retrySoon` says that the cause was not the cluster's state.
   */
  failed(key: string, retrySoon = false): void {
    const entry = this.taken.get(key);
    if (!entry) return;
    this.taken.delete(key);
    const failed = { ...entry, failedAtMs: this.clock.monotonicMs() };
    if (retrySoon || failed.movesSeen !== this.moves) this.backingOff.push(failed);
    else this.unschedulable.set(key, failed);
  }

  /** Something changed that may make room for the unschedulable pods that `concerns` picks. */
  moveAll(concerns: (pod: PodInfo) => boolean = () => true): void {
    this.moves++;
    for (const entry of this.unschedulable.values()) {
      if (!concerns(entry.info)) continue;
      this.unschedulable.delete(entry.key);
      this.activate(entry);
    }
  }

  /** Moves what has waited long enough to the active pods. */
  flush(): void {
    const nowMs = this.clock.monotonicMs();
    for (let next = this.backingOff.peek(); next; next = this.backingOff.peek()) {
      if (this.backoffEndMs(next) > nowMs) break;
      this.backingOff.pop();
      this.active.push(next);
    }
    for (const entry of this.unschedulable.values()) {
      if (nowMs - entry.failedAtMs < unschedulableStayMs) continue;
      this.unschedulable.delete(entry.key);
      this.activate(entry);
    }
  }

  /** Milliseconds until `flush` has something to do for backing-off pods; undefined when none waits. */
  nextBackoffMs(): number | undefined {
    const next = this.backingOff.peek();
    return next && Math.max(0, this.backoffEndMs(next) - this.clock.monotonicMs());
  }

  private activate(entry: QueuedPod): void {
    if (this.backoffEndMs(entry) > this.clock.monotonicMs()) this.backingOff.push(entry);
    else this.active.push(entry);
  }

  private backoffEndMs(entry: QueuedPod): number {
    if (entry.attempts === 0) return 0;
    const doublings = Math.min(entry.attempts - 1, 30);
    const waitMs = Math.min(
      this.limits.backoffInitialMs * 2 ** doublings,
      this.limits.backoffMaxMs,
    );
    return entry.failedAtMs + waitMs;
  }

  private find(key: string): QueuedPod | undefined {
    return (
      this.taken.get(key) ??
      this.active.get(key) ??
      this.backingOff.get(key) ??
      this.unschedulable.get(key)
    );
  }
}

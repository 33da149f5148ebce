/**
 * Delays the replacement of daemon pods that keep failing, for each set and node: the delay doubles
 * with every failure and starts again after a long time without one.
 */
import type { Clock } from '@orch/component';
import { limits } from '../limits.js';

interface Entry {
  readonly delayMs: number;
  readonly sinceMs: number;
}

const { failedPodBackoffMsMin: firstMs, failedPodBackoffMsMax: maxMs } = limits;

export class FailedPodBackoff {
  private readonly entries = new Map<string, Map<string, Entry>>();

  constructor(private readonly clock: Clock) {}

  /** Milliseconds until a failed pod of the node may be replaced; 0: now. */
  delayMs(set: string, nodeName: string): number {
    const entry = this.entries.get(set)?.get(nodeName);
    if (!entry) return 0;
    return Math.max(0, entry.sinceMs + entry.delayMs - this.clock.monotonicMs());
  }

  /** Notes a replacement. */
  replaced(set: string, nodeName: string): void {
    const nodes = this.entries.get(set) ?? new Map<string, Entry>();
    this.entries.set(set, nodes);
    const nowMs = this.clock.monotonicMs();
    for (const [name, { sinceMs }] of nodes) if (nowMs - sinceMs > 2 * maxMs) nodes.delete(name);
    const before = nodes.get(nodeName)?.delayMs;
    const delayMs = before === undefined ? firstMs : Math.min(2 * before, maxMs);
    nodes.set(nodeName, { delayMs, sinceMs: nowMs });
  }

  forget(set: string): void {
    this.entries.delete(set);
  }
}

/** All open watches: counted for metrics, and ended together when the server ends. */
import type { ServedResource } from '../registry/resource.js';
import type { ActiveWatch, WatchObserver } from '../watch/serve-watch.js';
import type { EndReason } from '../watch/watch-channel.js';
import type { ApiMetrics } from './api-metrics.js';

export class WatchRegistry implements WatchObserver {
  private readonly active = new Set<ActiveWatch>();
  /** Events are counted here and handed to the metrics when these are asked for. */
  private readonly sentCounts = new Map<ServedResource, number>();
  private stopped = false;

  constructor(private readonly metrics: ApiMetrics) {}

  get count(): number {
    return this.active.size;
  }

  began(watch: ActiveWatch): void {
    this.active.add(watch);
    this.metrics.watchBegan(watch.target.served);
    if (this.stopped) setImmediate(() => watch.stop());
  }

  ended(watch: ActiveWatch, reason: EndReason): void {
    if (!this.active.delete(watch)) return;
    this.metrics.watchEnded(watch.target.served, reason === 'slow');
  }

  sent(served: ServedResource): void {
    this.sentCounts.set(served, (this.sentCounts.get(served) ?? 0) + 1);
  }

  /** Hands the counts to the metrics; before these are rendered. */
  flushCounts(): void {
    for (const [served, count] of this.sentCounts) this.metrics.watchSent(served, count);
    this.sentCounts.clear();
  }

  /** Ends all that are open, and from now on every other as soon as it has begun. */
  stopAll(): void {
    this.stopped = true;
    for (const watch of [...this.active]) watch.stop();
  }
}

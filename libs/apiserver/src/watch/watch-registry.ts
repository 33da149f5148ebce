/** All open watches: counted for metrics, and ended together when the server stops. */
import {
  type CounterSeries,
  exponentialBuckets,
  type HistogramSeries,
  type Metrics,
} from '@orch/component';
import type { ServedResource } from '@orch/registry';
import type { ActiveWatch, WatchObserver, WatchTraffic } from './serve-watch.js';
import type { EndReason } from './watch-channel.js';

const kind = ['group', 'kind', 'version'] as const;
const sizeBuckets = exponentialBuckets(1_024, 2, 8);

class Traffic implements WatchTraffic {
  constructor(
    private readonly events: CounterSeries,
    private readonly sizes: HistogramSeries,
    private readonly initialEvents: CounterSeries,
  ) {}

  sent(byteCount: number): void {
    this.events.inc();
    this.sizes.observe(byteCount);
  }

  began(eventCount: number): void {
    this.initialEvents.inc(eventCount);
  }
}

export class WatchRegistry implements WatchObserver {
  private readonly active = new Set<ActiveWatch>();
  private readonly byResource = new Map<ServedResource, Traffic>();
  private readonly events;
  private readonly sizes;
  private readonly initialEvents;
  private readonly watchers;
  private readonly slowWatches;
  private stopped = false;

  constructor(metrics: Metrics) {
    this.events = metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers.',
      labels: kind,
    });
    this.sizes = metrics.histogram({
      name: 'apiserver_watch_events_sizes',
      help: 'Bytes of events sent to watchers.',
      labels: kind,
      buckets: sizeBuckets,
    });
    this.initialEvents = metrics.counter({
      name: 'apiserver_init_events_total',
      help: 'Initial events of watches: objects that existed before.',
      labels: ['resource'],
    });
    this.watchers = metrics.gauge({
      name: 'apiserver_registered_watchers',
      help: 'Watches that are open.',
      labels: kind,
    });
    this.slowWatches = metrics.counter({
      name: 'apiserver_terminated_watchers_total',
      help: 'Watches ended because the client did not keep up.',
      labels: ['resource'],
    });
  }

  get count(): number {
    return this.active.size;
  }

  traffic(served: ServedResource): WatchTraffic {
    let traffic = this.byResource.get(served);
    if (!traffic) {
      const labels = kindLabels(served);
      const initial = this.initialEvents.labels({ resource: served.resource.typeName });
      traffic = new Traffic(this.events.labels(labels), this.sizes.labels(labels), initial);
      this.byResource.set(served, traffic);
    }
    return traffic;
  }

  began(watch: ActiveWatch): void {
    this.active.add(watch);
    this.watchers.inc(kindLabels(watch.target.store.served));
    if (this.stopped) setImmediate(() => watch.stop());
  }

  ended(watch: ActiveWatch, reason: EndReason): void {
    if (!this.active.delete(watch)) return;
    const { served } = watch.target.store;
    this.watchers.dec(kindLabels(served));
    if (reason === 'slow') this.slowWatches.inc({ resource: served.resource.typeName });
  }

  /** Ends the watches of resources that are no longer served or have changed. */
  stopOf(served: readonly ServedResource[]): void {
    const gone = new Set(served.map(pathOf));
    for (const watch of [...this.active]) {
      if (gone.has(pathOf(watch.target.store.served))) watch.stop();
    }
    for (const one of [...this.byResource.keys()]) {
      if (gone.has(pathOf(one))) this.byResource.delete(one);
    }
  }

  /** Ends all open watches, and every later one as soon as it starts. */
  stopAll(): void {
    this.stopped = true;
    for (const watch of [...this.active]) watch.stop();
  }
}

function pathOf({ apiVersion, definition }: ServedResource): string {
  return `${apiVersion}/${definition.plural}`;
}

function kindLabels(served: ServedResource) {
  return { group: served.group, kind: served.kind, version: served.version };
}

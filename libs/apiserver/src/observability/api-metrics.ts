/**
 * Metrics of the API. Names, labels and buckets are the interface's. Series of a request are found once
 * per combination of labels and kept, so that counting costs a map lookup.
 */
import type { Metrics } from '@orch/component';
import type { ServedResource } from '../registry/resource.js';
import type { RequestInfo } from '../request/request-info.js';
import type { InFlight } from '../server/in-flight.js';

const durationBuckets = [
  0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

const verbNames: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PUT',
  get: 'GET',
  head: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  post: 'POST',
  put: 'PUT',
};

const seriesMax = 20_000;

interface Series {
  count(): void;
  observe(seconds: number): void;
}

/** What labels say about a request. */
export interface RequestLabels {
  readonly info: RequestInfo;
  readonly dryRun: boolean;
}

function scopeOf({ isResource, name, namespace }: RequestInfo): string {
  if (!isResource) return '';
  if (name !== '') return 'resource';
  return namespace !== '' ? 'namespace' : 'cluster';
}

export class ApiMetrics {
  private readonly series = new Map<string, Series>();
  private readonly requests;
  private readonly durations;
  private readonly watchEvents;
  private readonly watchers;
  private readonly slowWatches;

  constructor(metrics: Metrics, inFlight: InFlight) {
    this.requests = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests answered, by what they asked for and by status code.',
      stability: 'STABLE',
      labels: [
        'code',
        'component',
        'dry_run',
        'group',
        'resource',
        'scope',
        'subresource',
        'verb',
        'version',
      ],
    });
    this.durations = metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the request to the end of its answer, in seconds.',
      stability: 'STABLE',
      buckets: durationBuckets,
      labels: [
        'component',
        'dry_run',
        'group',
        'resource',
        'scope',
        'subresource',
        'verb',
        'version',
      ],
    });
    metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being worked on, by kind.',
      labels: ['request_kind'],
      collect(gauge) {
        for (const kind of ['readOnly', 'mutating'] as const) {
          gauge.set({ request_kind: kind }, inFlight.count(kind));
        }
      },
    });
    this.watchEvents = metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers.',
      labels: ['group', 'kind', 'version'],
    });
    this.watchers = metrics.gauge({
      name: 'apiserver_registered_watchers',
      help: 'Watches that are open.',
      labels: ['group', 'kind', 'version'],
    });
    this.slowWatches = metrics.counter({
      name: 'apiserver_terminated_watchers_total',
      help: 'Watches ended because the client did not keep up.',
      labels: ['resource'],
    });
  }

  finished(labels: RequestLabels, statusCode: number, seconds: number): void {
    const { info, dryRun } = labels;
    const key = `${info.verb} ${info.group}/${info.version}/${info.resource}/${info.subresource} ${scopeOf(info)} ${dryRun} ${statusCode}`;
    let series = this.series.get(key);
    if (!series) {
      if (this.series.size >= seriesMax) this.series.clear();
      series = this.newSeries(labels, statusCode);
      this.series.set(key, series);
    }
    series.count();
    series.observe(seconds);
  }

  private newSeries({ info, dryRun }: RequestLabels, statusCode: number): Series {
    const common = {
      component: 'apiserver',
      dry_run: dryRun ? 'All' : '',
      group: info.group,
      resource: info.resource,
      scope: scopeOf(info),
      subresource: info.subresource,
      verb: verbNames[info.verb] ?? 'other',
      version: info.version,
    };
    const counter = this.requests.labels({ ...common, code: String(statusCode) });
    const histogram = this.durations.labels(common);
    return { count: () => counter.inc(), observe: (seconds) => histogram.observe(seconds) };
  }

  watchBegan(served: ServedResource): void {
    this.watchers.inc(kindLabels(served));
  }

  watchEnded(served: ServedResource, slow: boolean): void {
    this.watchers.dec(kindLabels(served));
    if (slow) this.slowWatches.inc({ resource: served.definition.plural });
  }

  watchSent(served: ServedResource, eventCount: number): void {
    this.watchEvents.inc(kindLabels(served), eventCount);
  }
}

function kindLabels(served: ServedResource) {
  return { group: served.group, kind: served.kind, version: served.version };
}

/**
 * Metrics of the API. Names, labels and buckets are the interface's. Series of a request are found once
 * per combination of labels and kept; counts are handed on when they are asked for. So that counting a
 * request costs a map lookup and a few comparisons.
 */
import type { Metrics } from '@orch/component';
import type { ServedResource } from '../registry/resource.js';
import type { RequestInfo } from '../request/request-info.js';
import type { InFlight } from '../server/in-flight.js';
import { DurationHistogram, type DurationSeries } from './duration-histogram.js';

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
  connect: 'CONNECT',
  post: 'POST',
  put: 'PUT',
};

/** Their requests are connections, by whatever method they are made. */
const connecting: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

const seriesMax = 20_000;
/** Looked through one by one. */
const seriesOfResourceMax = 256;
const noLabels = {
  component: 'apiserver',
  dry_run: '',
  group: '',
  resource: '',
  scope: '',
  subresource: '',
  verb: '',
  version: '',
};

/** Counts of requests that are alike. */
interface Series {
  readonly durations: DurationSeries;
  readonly add: (count: number) => void;
  /** Not yet handed on. */
  pendingCount: number;
}

/** A series and the first request of it. */
interface KnownSeries {
  readonly info: RequestInfo;
  readonly statusCode: number;
  readonly series: Series;
}

function scopeOf({ isResource, name, namespace }: RequestInfo): string {
  if (!isResource) return '';
  if (name !== '') return 'resource';
  return namespace !== '' ? 'namespace' : 'cluster';
}

/** Clients choose what their paths say; only what is served has labels of its own. */
function longRunningLabels(info: RequestInfo) {
  const { group, resource, verb, version } = counted(info);
  const component = 'apiserver';
  const subresource = verb === 'watch' ? '' : info.subresource;
  const scope = scopeOf(info);
  return {
    component,
    group,
    resource,
    scope,
    subresource,
    verb: verbNames[verb] ?? 'other',
    version,
  };
}

function counted(info: RequestInfo): RequestInfo {
  const connects = info.subresource !== '' && connecting.has(info.subresource);
  return connects ? { ...info, verb: 'connect' } : info;
}

function isAlike(
  { info: first, statusCode: code }: KnownSeries,
  info: RequestInfo,
  status: number,
) {
  return (
    code === status &&
    first.verb === info.verb &&
    first.version === info.version &&
    first.group === info.group &&
    first.subresource === info.subresource &&
    scopeOf(first) === scopeOf(info)
  );
}

export class ApiMetrics {
  private readonly byResource = new Map<string, KnownSeries[]>();
  private readonly allSeries: Series[] = [];
  private overflow: Series | undefined;
  private readonly requests;
  private readonly durations;
  private readonly watchEvents;
  private readonly watchers;
  private readonly slowWatches;
  private readonly longRunningRequests;

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
      collect: () => this.handOn(),
    });
    this.durations = new DurationHistogram({
      name: 'apiserver_request_duration_seconds',
      help: '[STABLE] Time from the request to the end of its answer, in seconds.',
      buckets: durationBuckets,
      registers: [metrics.registry],
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
    this.longRunningRequests = metrics.gauge({
      name: 'apiserver_longrunning_gauge',
      help: 'Requests that go on for long and are open.',
      labels: ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'],
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

  /** `change`: 1 when it begins, -1 when it ends. */
  longRunning(info: RequestInfo, change: 1 | -1): void {
    this.longRunningRequests.inc(longRunningLabels(info), change);
  }

  finished(asked: RequestInfo, statusCode: number, seconds: number): void {
    const info = counted(asked);
    const alike = this.byResource.get(info.resource);
    const known = alike?.find((entry) => isAlike(entry, info, statusCode));
    const series = known ? known.series : this.newSeries(info, statusCode);
    series.pendingCount += 1;
    series.durations.observe(seconds);
  }

  /** Above a maximum, what is new is counted together: clients choose what their paths say. */
  private newSeries(info: RequestInfo, statusCode: number): Series {
    const alike = this.byResource.get(info.resource) ?? [];
    if (this.allSeries.length >= seriesMax || alike.length >= seriesOfResourceMax) {
      this.overflow ??= this.makeSeries({ ...noLabels, verb: 'other' }, '');
      return this.overflow;
    }
    const labels = {
      component: 'apiserver',
      dry_run: '',
      group: info.group,
      resource: info.resource,
      scope: scopeOf(info),
      subresource: info.subresource,
      verb: verbNames[info.verb] ?? 'other',
      version: info.version,
    };
    const series = this.makeSeries(labels, String(statusCode));
    alike.push({ info, statusCode, series });
    this.byResource.set(info.resource, alike);
    return series;
  }

  private makeSeries(labels: typeof noLabels, code: string): Series {
    const counter = this.requests.labels({ ...labels, code });
    const series: Series = {
      durations: this.durations.series(labels),
      add: (count) => counter.inc(count),
      pendingCount: 0,
    };
    this.allSeries.push(series);
    return series;
  }

  private handOn(): void {
    for (const series of this.allSeries) {
      if (series.pendingCount > 0) series.add(series.pendingCount);
      series.pendingCount = 0;
    }
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

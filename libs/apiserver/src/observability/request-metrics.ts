/**
 * Metrics of requests. Names, labels and buckets are the interface's. Similar requests share a
 * route, which retains its series, so that counting a request costs a lookup in the few routes of
 * its resource. The number of series is bounded by the resources, subresources and verbs of the
 * server: requests for other resources share one series.
 */
import type {
  Counter,
  CounterSeries,
  Gauge,
  Histogram,
  HistogramSeries,
  Metrics,
} from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { type RequestCounts, type RequestKind, requestKinds } from '../http/request-gate.js';
import type { FinishedRequest, RequestRecorder } from '../http/request-recorder.js';

const durationBuckets = [
  0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const filterBuckets = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5];

const requestLabels = ['group', 'resource', 'scope', 'subresource', 'verb', 'version'] as const;
const answered = ['component', ...requestLabels] as const;
const counted = ['dry_run', ...answered] as const;
const deprecated = ['group', 'removed_release', 'resource', 'subresource', 'version'] as const;
const component = 'apiserver';
const tooManyRequests = '429';

/** The attributes that similar requests share, besides their resource. */
export interface RouteKey {
  readonly verb: string;
  readonly scope: string;
  /** Empty, or a subresource of the resource. */
  readonly subresource: string;
  readonly dryRun: string;
}

type RequestLabels = Readonly<Record<(typeof requestLabels)[number], string>>;

/** Similar requests and their series. */
export class Route implements RequestRecorder {
  private readonly durations: HistogramSeries;
  private readonly sizes: HistogramSeries | undefined;
  private readonly byCode = new Map<number, CounterSeries>();

  constructor(
    private readonly families: RequestFamilies,
    readonly key: RouteKey,
    private readonly labels: RequestLabels,
  ) {
    const { verb, dryRun } = key;
    this.durations = families.durations.labels({ ...labels, component, dry_run: dryRun });
    const isRead = labels.resource !== '' && (verb === 'GET' || verb === 'LIST');
    if (isRead) this.sizes = families.sizes.labels({ ...labels, component });
  }

  finished({ response, bodyBytes, aborted }: FinishedRequest, seconds: number): void {
    const { statusCode } = response;
    let count = this.byCode.get(statusCode);
    if (!count) {
      const { families, key, labels } = this;
      const code = String(statusCode);
      count = families.requests.labels({ ...labels, code, component, dry_run: key.dryRun });
      this.byCode.set(statusCode, count);
    }
    count.inc();
    this.durations.observe(seconds);
    this.sizes?.observe(bodyBytes);
    if (aborted) this.families.aborts.inc(this.labels);
  }

  /** Counts a long-running request: 1 when it starts, -1 when it ends. */
  longRunning(change: 1 | -1): void {
    this.families.longRunning.inc({ ...this.labels, component }, change);
  }

  /** The server terminated the request to protect itself. */
  terminated(code: string): void {
    this.families.terminations.inc({ ...this.labels, code, component });
  }
}

interface RequestFamilies {
  readonly requests: Counter<'code' | (typeof counted)[number]>;
  readonly durations: Histogram<(typeof counted)[number]>;
  readonly sizes: Histogram<(typeof answered)[number]>;
  readonly longRunning: Gauge<(typeof answered)[number]>;
  readonly aborts: Counter<(typeof requestLabels)[number]>;
  readonly terminations: Counter<'code' | (typeof answered)[number]>;
}

export class RequestMetrics {
  /** Time of authentication and authorization, in seconds. */
  readonly authentication: HistogramSeries;
  readonly authorization: HistogramSeries;
  private readonly families: RequestFamilies;
  private readonly dropped;
  private readonly deprecatedApis;
  private readonly routes = new WeakMap<object, Route[]>();

  constructor(metrics: Metrics, gate: RequestCounts) {
    this.families = requestFamilies(metrics);
    const filters = filterDurations(metrics);
    this.authentication = filters.labels({ filter: 'authentication' });
    this.authorization = filters.labels({ filter: 'authorization' });
    metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests in flight, by kind.',
      labels: ['request_kind'],
      collect(gauge) {
        for (const kind of requestKinds) {
          gauge.set({ request_kind: kind }, gate.executingCount(kind));
        }
      },
    });
    metrics.gauge({
      name: 'apiserver_current_inqueue_requests',
      help: 'Requests waiting for a seat, by kind.',
      labels: ['request_kind'],
      collect(gauge) {
        for (const kind of requestKinds) {
          gauge.set({ request_kind: kind }, gate.waitingCount(kind));
        }
      },
    });
    this.dropped = metrics.counter({
      name: 'apiserver_dropped_requests_total',
      help: 'Requests rejected because too many were in flight, by kind.',
      labels: ['request_kind'],
    });
    this.deprecatedApis = metrics.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated APIs that were requested, by the release that removes them; always 1.',
      labels: deprecated,
    });
  }

  /** `served`: undefined for a request that is not for a resource of this server. */
  route(
    served: ServedResource | undefined,
    verb: string,
    scope: string,
    subresource: string,
    dryRun: string,
  ): Route {
    const alike = this.routes.get(served ?? noResource) ?? [];
    for (const route of alike) {
      const { key } = route;
      if (
        key.verb === verb &&
        key.scope === scope &&
        key.subresource === subresource &&
        key.dryRun === dryRun
      ) {
        return route;
      }
    }
    const route = this.newRoute(served, { verb, scope, subresource, dryRun });
    alike.push(route);
    this.routes.set(served ?? noResource, alike);
    return route;
  }

  /** A request was rejected because too many of its kind were in flight. */
  refused(recorder: RequestRecorder, kind: RequestKind): void {
    this.dropped.inc({ request_kind: kind });
    recorder.terminated(tooManyRequests);
  }

  private newRoute(served: ServedResource | undefined, key: RouteKey): Route {
    const { verb, scope, subresource } = key;
    const { group = '', version = '', definition, served: stage } = served ?? {};
    const resource = definition?.plural ?? '';
    const deprecation = stage?.deprecation;
    if (deprecation) {
      const removed_release = deprecation.unavailableFrom ?? '';
      this.deprecatedApis.set({ group, version, resource, subresource, removed_release }, 1);
    }
    const labels = { group, version, resource, subresource, scope, verb };
    return new Route(this.families, key, labels);
  }
}

/** The key of requests that are not for a resource of this server. */
const noResource = {};

/** Time that a request spends in each filter. */
export function filterDurations(metrics: Metrics): Histogram<'filter'> {
  return metrics.histogram({
    name: 'apiserver_request_filter_duration_seconds',
    help: 'Time that a request spends in a filter before its response, in seconds, by filter.',
    labels: ['filter'],
    buckets: filterBuckets,
  });
}

function requestFamilies(metrics: Metrics): RequestFamilies {
  return {
    requests: metrics.counter({
      name: 'apiserver_request_total',
      help: 'Completed requests, by resource, verb and status code.',
      stability: 'STABLE',
      labels: ['code', ...counted],
    }),
    durations: metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the request to the end of its response, in seconds.',
      stability: 'STABLE',
      labels: counted,
      buckets: durationBuckets,
    }),
    sizes: metrics.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of the response bodies of reads.',
      labels: answered,
      buckets: sizeBuckets,
    }),
    longRunning: metrics.gauge({
      name: 'apiserver_longrunning_gauge',
      help: 'Open long-running requests.',
      labels: answered,
    }),
    aborts: metrics.counter({
      name: 'apiserver_request_aborts_total',
      help: 'Requests whose responses were aborted, as by a timeout.',
      labels: requestLabels,
    }),
    terminations: metrics.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests terminated by the server to protect itself.',
      labels: ['code', ...answered],
    }),
  };
}

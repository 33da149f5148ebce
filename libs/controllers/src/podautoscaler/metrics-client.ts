/**
 * Reads metrics through the aggregated APIs `metrics`, `custom.metrics` and `external.metrics`.
 * Amounts are thousandths. Error messages have the wording of the interface.
 */
import { type LabelSelector, parseDuration, parseTime, Quantity } from '@orch/apimachinery';
import { type ApiClient, type DiscoveredResource, isNotFound } from '@orch/client';
import { dialect } from '@orch/component';
import { messageOf } from '../common/expected-errors.js';
import { MetricError, type PodMetric, type PodMetrics } from './replica-calculator.js';

/** Metrics that do not state their window. */
const defaultWindowMs = 60_000;
const requestTimeoutMs = 30_000;

interface ResourceMetrics {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string; readonly namespace?: string };
    readonly timestamp?: string;
    readonly window?: string;
    readonly containers?: readonly {
      readonly name: string;
      readonly usage?: Readonly<Record<string, string>>;
    }[];
  }[];
}

interface MetricValues {
  readonly items?: readonly {
    readonly describedObject?: { readonly name?: string };
    readonly timestamp?: string;
    readonly window?: number;
    readonly windowSeconds?: number;
    readonly value: string;
  }[];
}

type PodUsage = NonNullable<ResourceMetrics['items']>[number];

export class MetricsClient {
  constructor(private readonly client: ApiClient) {}

  /** The usage of pods, or of one container of each pod. Throws MetricError. */
  async resource(
    namespace: string,
    resource: string,
    selector: LabelSelector,
    container: string,
  ): Promise<PodMetrics> {
    const path = `/apis/${dialect().group('metrics')}/v1beta1/namespaces/${namespace}/pods`;
    const { items = [] } = await this.get<ResourceMetrics>('resource', path, {
      labelSelector: selector.toString(),
    });
    if (items.length === 0) throw noMetrics('resource');
    const metrics = new Map<string, PodMetric>();
    for (const pod of items) {
      const value = container === '' ? podUsage(pod, resource) : usageOf(pod, resource, container);
      if (value === undefined) continue;
      metrics.set(pod.metadata?.name ?? '', {
        value,
        timestampMs: parseTime(pod.timestamp) ?? 0,
        windowMs: Number(parseDuration(pod.window ?? '0s') / 1_000_000n),
      });
    }
    return metrics;
  }

  /** A custom metric of pods. Throws MetricError. */
  async pods(
    namespace: string,
    name: string,
    selector: LabelSelector,
    metricSelector: LabelSelector,
  ): Promise<PodMetrics> {
    const path = `namespaces/${namespace}/pods/*/${encodeURIComponent(name)}`;
    const items = await this.custom(path, {
      labelSelector: selector.toString(),
      ...selectorQuery('metricLabelSelector', metricSelector),
    });
    if (items.length === 0) throw noMetrics('custom');
    return new Map(
      items.map(({ describedObject, timestamp, windowSeconds, window, value }) => [
        describedObject?.name ?? '',
        {
          value: milli(value),
          timestampMs: parseTime(timestamp) ?? 0,
          windowMs: (windowSeconds ?? window ?? defaultWindowMs / 1000) * 1000,
        },
      ]),
    );
  }

  /** A custom metric of one object. Throws MetricError. */
  async object(
    namespace: string,
    resource: DiscoveredResource,
    objectName: string,
    name: string,
    metricSelector: LabelSelector,
  ): Promise<number> {
    const group = dialect().group(resource.group);
    const plural = group === '' ? resource.plural : `${resource.plural}.${group}`;
    const scope = resource.namespaced ? `namespaces/${namespace}/` : '';
    const isNamespace = resource.plural === 'namespaces' && group === '';
    const metric = encodeURIComponent(name);
    const path = isNamespace
      ? `namespaces/${namespace}/metrics/${metric}`
      : `${scope}${plural}/${encodeURIComponent(objectName)}/${metric}`;
    const items = await this.custom(path, selectorQuery('metricLabelSelector', metricSelector));
    const [item] = items;
    if (!item || items.length > 1) {
      const count = `${items.length} results instead of exactly one`;
      throw unableToFetch('custom', `the custom metrics API server returned ${count}`);
    }
    return milli(item.value);
  }

  /** The sum of an external metric. Throws MetricError. */
  async external(namespace: string, name: string, selector: LabelSelector): Promise<number> {
    const group = dialect().group('external.metrics');
    const metric = encodeURIComponent(name);
    const path = `/apis/${group}/v1beta1/namespaces/${namespace}/${metric}`;
    const query = selectorQuery('labelSelector', selector);
    const { items = [] } = await this.get<MetricValues>('external', path, query);
    if (items.length === 0) throw noMetrics('external');
    return items.reduce((sum, { value }) => sum + milli(value), 0);
  }

  private async custom(
    path: string,
    query: Record<string, string>,
  ): Promise<NonNullable<MetricValues['items']>> {
    const group = dialect().group('custom.metrics');
    const version = await this.customVersion(group);
    const full = `/apis/${group}/${version}/${path}`;
    return (await this.get<MetricValues>('custom', full, query)).items ?? [];
  }

  private async customVersion(group: string): Promise<string> {
    try {
      const response = await this.client.request('GET', `/apis/${group}`);
      const { versions = [] } = response.json<{ versions?: { version: string }[] }>();
      const served = versions.map(({ version }) => version);
      const known = ['v1beta2', 'v1beta1'].find((version) => served.includes(version));
      if (known !== undefined) return known;
    } catch (error) {
      if (!isNotFound(error)) throw unableToFetch('custom', messageOf(error));
    }
    throw unableToFetch('custom', `no custom metrics API (${group}) registered`);
  }

  private async get<T>(api: string, path: string, query: Record<string, string>): Promise<T> {
    try {
      const options = { query, timeoutMs: requestTimeoutMs };
      return (await this.client.request('GET', path, options)).json<T>();
    } catch (error) {
      throw unableToFetch(api, messageOf(error));
    }
  }
}

function selectorQuery(name: string, selector: LabelSelector): Record<string, string> {
  return selector.requirements.length === 0 ? {} : { [name]: selector.toString() };
}

function unableToFetch(api: string, reason: string): MetricError {
  return new MetricError(`unable to fetch metrics from ${api} metrics API: ${reason}`);
}

function noMetrics(api: string): MetricError {
  return new MetricError(`no metrics returned from ${api} metrics API`);
}

/** The sum of the containers; undefined if one of them lacks the resource. */
function podUsage({ containers = [] }: PodUsage, resource: string): number | undefined {
  if (containers.length === 0) return undefined;
  let sum = 0;
  for (const { usage } of containers) {
    const value = usage?.[resource];
    if (value === undefined) return undefined;
    sum += milli(value);
  }
  return sum;
}

function usageOf(pod: PodUsage, resource: string, container: string): number | undefined {
  const found = pod.containers?.find(({ name }) => name === container);
  if (!found) {
    const { namespace, name } = pod.metadata ?? {};
    throw new MetricError(
      `failed to get container metrics: container ${container} not present in metrics for pod ${namespace}/${name}`,
    );
  }
  const value = found.usage?.[resource];
  return value === undefined ? undefined : milli(value);
}

function milli(value: string): number {
  return Number(Quantity.parse(value).milliUnits());
}

/**
 * Computes the replicas that a metric calls for. Pure: pods, metrics, targets and the time go in.
 * Amounts are thousandths. Error messages have the wording of the interface.
 */
import { parseTime, Quantity } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import { isPodReady, readyCondition } from '../common/pods.js';

export interface PodMetric {
  readonly value: number;
  readonly timestampMs: number;
  /** The time over which the value was measured. */
  readonly windowMs: number;
}

export type PodMetrics = ReadonlyMap<string, PodMetric>;

export interface CalculatorOptions {
  /** Ratios this close to 1 change nothing. */
  readonly tolerance: number;
  /** After its start, CPU samples of a pod count only while it is ready. */
  readonly cpuInitializationMs: number;
  /** A pod that becomes not ready within this time of its start has never been ready. */
  readonly initialReadinessDelayMs: number;
  readonly nowMs: number;
}

export interface Proposal {
  readonly replicas: number;
  /** The measured average, or the total of an object metric. */
  readonly value: number;
  /** In percent of the request, for resources. */
  readonly utilization?: number;
}

/** A metric that cannot be computed. */
export class MetricError extends Error {
  override readonly name = 'MetricError';
}

interface Usage {
  readonly ratio: number;
  readonly value: number;
  readonly utilization?: number;
}

interface PodGroups {
  readonly readyCount: number;
  /** They run, but are not ready: their metrics do not count. */
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

/** @param resource its samples of pods that start are ignored if it is `cpu`. */
export function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  resource: string,
  settings: CalculatorOptions,
): PodGroups {
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored = new Set<string>();
  let readyCount = 0;
  for (const pod of pods) {
    const name = pod.metadata?.name ?? '';
    const metric = metrics.get(name);
    if (pod.metadata?.deletionTimestamp || pod.status?.phase === 'Failed') ignored.add(name);
    else if (pod.status?.phase === 'Pending') unready.add(name);
    else if (!metric) missing.add(name);
    else if (resource === 'cpu' && isStarting(pod, metric, settings)) unready.add(name);
    else readyCount += 1;
  }
  return { readyCount, unready, missing, ignored };
}

function isStarting(
  pod: Pod,
  metric: PodMetric,
  { cpuInitializationMs, initialReadinessDelayMs, nowMs }: CalculatorOptions,
): boolean {
  const condition = readyCondition(pod);
  const startMs = parseTime(pod.status?.startTime);
  if (!condition || startMs === undefined) return true;
  const isUnready = condition.status === 'False';
  const transitionMs = parseTime(condition.lastTransitionTime) ?? 0;
  if (startMs + cpuInitializationMs > nowMs) {
    return isUnready || metric.timestampMs < transitionMs + metric.windowMs;
  }
  return isUnready && startMs + initialReadinessDelayMs > transitionMs;
}

/** For a target in percent of the request. Throws MetricError. */
export function utilizationReplicas(
  input: ReplicaInput & { readonly resource: string; readonly container: string },
  targetPercent: number,
): Proposal {
  const requests = requestsOf(input.pods, input.resource, input.container);
  return plainReplicas(input, {
    usage: (metrics) => utilizationOf(metrics, requests, targetPercent),
    fallback: (name) => ((requests.get(name) ?? 0) * Math.max(100, targetPercent)) / 100,
  });
}

/** For a target of an average amount. Throws MetricError. */
export function averageReplicas(input: ReplicaInput, target: number): Proposal {
  return plainReplicas(input, {
    usage: (metrics) => {
      const total = [...metrics.values()].reduce((sum, { value }) => sum + value, 0);
      const value = Math.trunc(total / metrics.size);
      return { ratio: value / target, value };
    },
    fallback: () => target,
  });
}

export interface ReplicaInput {
  readonly pods: readonly Pod[];
  readonly metrics: PodMetrics;
  readonly resource: string;
  readonly currentReplicas: number;
  readonly settings: CalculatorOptions;
}

interface UsageRules {
  readonly usage: (metrics: PodMetrics) => Usage;
  /** What a pod without metrics counts as when others use less than the target. */
  readonly fallback: (name: string) => number;
}

function plainReplicas(input: ReplicaInput, { usage, fallback }: UsageRules): Proposal {
  const { pods, resource, currentReplicas, settings } = input;
  if (pods.length === 0) throw noPods();
  const groups = groupPods(pods, input.metrics, resource, settings);
  const metrics = new Map(input.metrics);
  for (const name of [...groups.ignored, ...groups.unready]) metrics.delete(name);
  if (metrics.size === 0) throw new MetricError('did not receive metrics for any ready pods');
  const measured = usage(metrics);
  const { ratio, ...values } = measured;
  const proposal = (replicas: number): Proposal => ({ ...values, replicas });
  const countsUnready = groups.unready.size > 0 && ratio > 1;
  if (!countsUnready && groups.missing.size === 0) {
    if (isTolerated(ratio, settings)) return proposal(currentReplicas);
    return proposal(Math.ceil(ratio * groups.readyCount));
  }
  // Pods without metrics count against the change.
  const assumed = (value: number): PodMetric => ({ value, timestampMs: 0, windowMs: 0 });
  if (ratio !== 1) {
    for (const name of groups.missing) metrics.set(name, assumed(ratio < 1 ? fallback(name) : 0));
  }
  if (countsUnready) for (const name of groups.unready) metrics.set(name, assumed(0));
  const { ratio: newRatio } = usage(metrics);
  const isReversed = (ratio < 1 && newRatio > 1) || (ratio > 1 && newRatio < 1);
  if (isTolerated(newRatio, settings) || isReversed) return proposal(currentReplicas);
  const replicas = Math.ceil(newRatio * metrics.size);
  const isOpposite =
    (newRatio < 1 && replicas > currentReplicas) || (newRatio > 1 && replicas < currentReplicas);
  return proposal(isOpposite ? currentReplicas : replicas);
}

/** For the total of an object or external metric. Throws MetricError. */
export function totalReplicas(
  total: number,
  target: number,
  { pods, currentReplicas, settings }: Omit<ReplicaInput, 'metrics' | 'resource'>,
): Proposal {
  const ratio = total / target;
  if (currentReplicas === 0) return { replicas: Math.ceil(ratio), value: total };
  if (isTolerated(ratio, settings)) return { replicas: currentReplicas, value: total };
  if (pods.length === 0) {
    throw new MetricError(`unable to calculate ready pods: ${noPods().message}`);
  }
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  return { replicas: Math.ceil(ratio * ready.length), value: total };
}

/** For the total of an object or external metric, divided by the pods. */
export function perPodReplicas(
  total: number,
  target: number,
  statusReplicas: number,
  settings: CalculatorOptions,
): Proposal {
  const ratio = total / (target * statusReplicas);
  const value = statusReplicas === 0 ? 0 : Math.ceil(total / statusReplicas);
  // Without pods, the ratio is infinite, or undefined if nothing was measured.
  if (Number.isNaN(ratio) || isTolerated(ratio, settings)) {
    return { replicas: statusReplicas, value };
  }
  return { replicas: Math.ceil(total / target), value };
}

function isTolerated(ratio: number, { tolerance }: CalculatorOptions): boolean {
  return Math.abs(1 - ratio) <= tolerance;
}

function noPods(): MetricError {
  return new MetricError('no pods returned by selector while calculating replica count');
}

function requestsOf(
  pods: readonly Pod[],
  resource: string,
  container: string,
): ReadonlyMap<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    let sum = 0;
    for (const { name, resources } of spec?.containers ?? []) {
      if (container !== '' && container !== name) continue;
      const request = resources?.requests?.[resource];
      if (request === undefined) throw new MetricError(`missing request for ${resource}`);
      sum += Number(Quantity.parse(request).milliUnits());
    }
    requests.set(metadata?.name ?? '', sum);
  }
  return requests;
}

function utilizationOf(
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  targetPercent: number,
): Usage {
  let total = 0;
  let requested = 0;
  let count = 0;
  for (const [name, { value }] of metrics) {
    const request = requests.get(name);
    if (request === undefined) continue;
    total += value;
    requested += request;
    count += 1;
  }
  if (requested === 0) throw new MetricError('no metrics returned matched known pods');
  const utilization = Math.trunc((total * 100) / requested);
  return { ratio: utilization / targetPercent, value: Math.trunc(total / count), utilization };
}

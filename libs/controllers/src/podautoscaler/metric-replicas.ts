/**
 * Evaluates the metrics of an autoscaler: reads each metric, computes the replicas that it calls
 * for, and reports its status. Error messages have the wording of the interface.
 */
import { type LabelSelector, labelSelectorFromObject, Quantity } from '@orch/apimachinery';
import type {
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '@orch/types/autoscaling/v2beta2';
import type { Pod } from '@orch/types/core/v1';
import { messageOf } from '../common/expected-errors.js';
import type { ScaleClient } from '../common/scale-client.js';
import type { MetricsClient } from './metrics-client.js';
import {
  averageReplicas,
  type CalculatorOptions,
  MetricError,
  type Proposal,
  perPodReplicas,
  totalReplicas,
  utilizationReplicas,
} from './replica-calculator.js';
import { selectorText } from './selector-text.js';

export interface MetricContext {
  readonly namespace: string;
  readonly metrics: MetricsClient;
  readonly scales: ScaleClient;
  /** Selects the pods of the target. */
  readonly selector: LabelSelector;
  readonly pods: readonly Pod[];
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly settings: CalculatorOptions;
}

export interface EvaluatedMetric {
  readonly replicas: number;
  /** In events and conditions, such as `cpu resource utilization (percentage of request)`. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** Throws an error whose message says what failed. */
export function evaluateMetric(context: MetricContext, spec: MetricSpec): Promise<EvaluatedMetric> {
  switch (spec.type) {
    case 'Resource':
      return evaluateResource(context, spec);
    case 'ContainerResource':
      return evaluateContainerResource(context, spec);
    case 'Pods':
      return evaluatePods(context, spec);
    case 'Object':
      return evaluateObject(context, spec);
    case 'External':
      return evaluateExternal(context, spec);
    default:
      return Promise.reject(new MetricError(`unknown metric source type "${spec.type}"`));
  }
}

/** The reason of the condition and the event if a metric of this type fails. */
export function failureReason(type: string): string {
  const known = ['Resource', 'ContainerResource', 'Pods', 'Object', 'External'];
  return known.includes(type) ? `FailedGet${type}Metric` : 'InvalidMetricSourceType';
}

/** What the summary of all failures calls the failure of a metric of this type. */
export function failureSummary(type: string, message: string): string {
  if (type === 'Object') return `failed to get object metric value: ${message}`;
  if (type === 'Pods') return `failed to get pods metric value: ${message}`;
  return message;
}

interface ResourceProposal {
  readonly replicas: number;
  readonly name: string;
  readonly current: MetricValueStatus;
}

async function evaluateResource(
  context: MetricContext,
  { resource: source }: MetricSpec,
): Promise<EvaluatedMetric> {
  const { name = '', target } = source ?? {};
  const found = await resourceProposal(context, name, '', target);
  const status = { type: 'Resource', resource: { name, current: found.current } };
  return { replicas: found.replicas, name: found.name, status };
}

async function evaluateContainerResource(
  context: MetricContext,
  { containerResource: source }: MetricSpec,
): Promise<EvaluatedMetric> {
  const { name = '', container = '', target } = source ?? {};
  const found = await resourceProposal(context, name, container, target);
  const containerResource = { name, container, current: found.current };
  const status = { type: 'ContainerResource', containerResource };
  return { replicas: found.replicas, name: found.name, status };
}

async function resourceProposal(
  context: MetricContext,
  resource: string,
  container: string,
  target: MetricTarget | undefined,
): Promise<ResourceProposal> {
  const { namespace, selector, pods, specReplicas: currentReplicas, settings } = context;
  const { averageValue, averageUtilization } = target ?? {};
  if (averageValue === undefined && averageUtilization === undefined) {
    throw new MetricError(
      'invalid resource metric source: neither a utilization target nor a value target was set',
    );
  }
  return failingAs(`failed to get ${resource} utilization`, async () => {
    const metrics = await failingAs(`unable to get metrics for resource ${resource}`, () =>
      context.metrics.resource(namespace, resource, selector, container),
    );
    const input = { pods, metrics, resource, container, currentReplicas, settings };
    if (averageValue !== undefined) {
      const proposal = averageReplicas(input, milliOf(averageValue));
      return { ...proposal, name: `${resource} resource`, current: averageOf(proposal) };
    }
    const proposal = utilizationReplicas(input, averageUtilization ?? 0);
    return {
      ...proposal,
      name: `${resource} resource utilization (percentage of request)`,
      current: { ...averageOf(proposal), averageUtilization: proposal.utilization ?? 0 },
    };
  });
}

async function evaluatePods(
  { namespace, metrics, selector, pods, specReplicas, settings }: MetricContext,
  { pods: source }: MetricSpec,
): Promise<EvaluatedMetric> {
  const metric = source?.metric ?? { name: '' };
  const found = await failingAs(`unable to get metric ${metric.name}`, () =>
    metrics.pods(namespace, metric.name, selector, selectorFor(metric)),
  );
  const input = { pods, metrics: found, resource: '', currentReplicas: specReplicas, settings };
  const proposal = averageReplicas(input, milliOf(source?.target.averageValue));
  return {
    replicas: proposal.replicas,
    name: `pods metric ${metric.name}`,
    status: { type: 'Pods', pods: { metric, current: averageOf(proposal) } },
  };
}

async function evaluateObject(
  context: MetricContext,
  { object: source }: MetricSpec,
): Promise<EvaluatedMetric> {
  const metric = source?.metric ?? { name: '' };
  const { namespace } = context;
  const describedObject = source?.describedObject ?? { kind: '', name: '' };
  const { kind, name } = describedObject;
  const { type, value, averageValue } = source?.target ?? {};
  if (type !== 'Value' && type !== 'AverageValue') {
    throw new MetricError(
      'invalid object metric source: neither a value target nor an average value target was set',
    );
  }
  const read = async () => {
    const [resource] = await context.scales.resourcesOf(describedObject);
    if (!resource) throw new MetricError(`no matches for kind "${kind}"`);
    return context.metrics.object(namespace, resource, name, metric.name, selectorFor(metric));
  };
  // The name and the reason share a slash in the interface.
  const what = `unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}`;
  const total = await failingAs(what, read, '/');
  const isValue = type === 'Value';
  const { proposal, current } = totalProposal(
    context,
    total,
    isValue ? { value } : { averageValue },
  );
  return {
    replicas: proposal.replicas,
    name: isValue
      ? `${kind} metric ${metric.name}`
      : `external metric ${metric.name}(${selectorText(metric.selector)})`,
    status: { type: 'Object', object: { metric, current, describedObject } },
  };
}

async function evaluateExternal(
  context: MetricContext,
  { external: source }: MetricSpec,
): Promise<EvaluatedMetric> {
  const metric = source?.metric ?? { name: '' };
  const { namespace } = context;
  const { value, averageValue } = source?.target ?? {};
  if (value === undefined && averageValue === undefined) {
    throw new MetricError(
      'invalid external metric source: neither a value target nor an average value target was set',
    );
  }
  const text = selectorText(metric.selector);
  return failingAs(`failed to get ${metric.name} external metric`, async () => {
    const what = `unable to get external metric ${namespace}/${metric.name}/${text}`;
    const total = await failingAs(what, () =>
      context.metrics.external(namespace, metric.name, selectorFor(metric)),
    );
    const { proposal, current } = totalProposal(context, total, { value, averageValue });
    return {
      replicas: proposal.replicas,
      name: `external metric ${metric.name}(${text})`,
      status: { type: 'External', external: { metric, current } },
    };
  });
}

/** An average value takes precedence. */
function totalProposal(
  { pods, specReplicas, statusReplicas, settings }: MetricContext,
  total: number,
  { value, averageValue }: Pick<MetricTarget, 'value' | 'averageValue'>,
): { readonly proposal: Proposal; readonly current: MetricValueStatus } {
  if (averageValue !== undefined) {
    const proposal = perPodReplicas(total, milliOf(averageValue), statusReplicas, settings);
    return { proposal, current: averageOf(proposal) };
  }
  const input = { pods, currentReplicas: specReplicas, settings };
  const proposal = totalReplicas(total, milliOf(value), input);
  return { proposal, current: { value: Quantity.ofMilli(Math.trunc(proposal.value)).toString() } };
}

function averageOf({ value }: Proposal): MetricValueStatus {
  return { averageValue: Quantity.ofMilli(Math.trunc(value)).toString() };
}

function milliOf(quantity: string | undefined): number {
  return Number(Quantity.parse(quantity ?? '0').milliUnits());
}

function selectorFor({ selector }: MetricIdentifier): LabelSelector {
  return labelSelectorFromObject(selector);
}

async function failingAs<T>(what: string, act: () => Promise<T>, separator = ': '): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw new MetricError(`${what}${separator}${messageOf(cause)}`, { cause });
  }
}

/** The metrics of an autoscaler as text: `40%/80%, 3/10 (avg) + 1 more...`. */
import type { MetricSpec, MetricStatus } from '@orch/types/autoscaling/v2beta2';
import { none } from '../shared/columns.js';

const printedCountMax = 2;
const unknown = '<unknown>';

export function metricsCell(
  metrics: readonly MetricSpec[],
  statuses: readonly MetricStatus[],
): string {
  if (metrics.length === 0) return none;
  const texts = metrics.map((metric, index) => metricText(metric, statuses[index]));
  const printed = texts.slice(0, printedCountMax).join(', ');
  return texts.length > printedCountMax
    ? `${printed} + ${texts.length - printedCountMax} more...`
    : printed;
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external, status?.external);
    case 'Object':
      return valueText(metric.object, status?.object);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? unknown}/${metric.pods?.target.averageValue ?? ''}`;
    case 'Resource':
      return shareText(metric.resource, status?.resource);
    case 'ContainerResource':
      return shareText(metric.containerResource, status?.containerResource);
    default:
      return '<unknown type>';
  }
}

type Source = NonNullable<MetricSpec['external' | 'object' | 'resource']>;
type Current = NonNullable<MetricStatus['external' | 'object' | 'resource']>;

function valueText(source: Source | undefined, status: Current | undefined): string {
  const { value = '', averageValue } = source?.target ?? {};
  return averageValue === undefined
    ? `${status?.current.value ?? unknown}/${value}`
    : `${status?.current.averageValue ?? unknown}/${averageValue} (avg)`;
}

function shareText(source: Source | undefined, status: Current | undefined): string {
  const { averageUtilization, averageValue } = source?.target ?? {};
  if (averageValue !== undefined) {
    return `${status?.current.averageValue ?? unknown}/${averageValue}`;
  }
  const percent = status?.current.averageUtilization;
  const current = percent === undefined ? unknown : `${percent}%`;
  return `${current}/${averageUtilization === undefined ? '<auto>' : `${averageUtilization}%`}`;
}

/**
 * HorizontalPodAutoscaler between its older versions and the stored `v2beta2`. `v1` has a field for the one
 * metric it knows, the use of CPU; the rest is in annotations there, and the behavior in `v2beta1` too.
 */
import type * as v1 from '@orch/types/autoscaling/v1';
import type * as v2beta1 from '@orch/types/autoscaling/v2beta1';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  MetricSpec,
  MetricStatus,
} from '@orch/types/autoscaling/v2beta2';
import type { ApiObject } from '../definition.js';
import { readParts, withoutParts, withParts } from './autoscaler-annotations.js';
import {
  metricFromOlder,
  metricToOlder,
  statusFromOlder,
  statusToOlder,
} from './metric-conversion.js';

const defaultCpuPercent = 80;

/** The metric that `v1` has a field for. */
export function isCpuUse({ type, resource }: MetricSpec): boolean {
  return (
    type === 'Resource' &&
    resource?.name === 'cpu' &&
    resource.target.averageUtilization !== undefined
  );
}

function cpuUse(averageUtilization: number): MetricSpec {
  return {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  };
}

function cpuStatus(averageUtilization: number): MetricStatus {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } };
}

export function betaToStored(object: ApiObject): HorizontalPodAutoscaler {
  const { spec, status, ...autoscaler } = object as v2beta1.HorizontalPodAutoscaler;
  const { behavior } = readParts(autoscaler.metadata);
  return {
    ...autoscaler,
    metadata: withoutParts(autoscaler.metadata),
    ...(spec && {
      spec: {
        ...spec,
        ...(spec.metrics && { metrics: spec.metrics.map(metricFromOlder) }),
        ...(behavior && { behavior }),
      },
    }),
    ...(status && {
      status: {
        ...status,
        ...(status.currentMetrics && {
          currentMetrics: status.currentMetrics.map(statusFromOlder),
        }),
      },
    }),
  } as HorizontalPodAutoscaler;
}

export function betaFromStored(object: HorizontalPodAutoscaler): ApiObject {
  const { spec, status, metadata, ...autoscaler } = object;
  const { behavior, ...plain } = spec ?? ({} as Partial<HorizontalPodAutoscalerSpec>);
  return {
    ...autoscaler,
    metadata: withParts(metadata, { behavior }),
    ...(spec && {
      spec: { ...plain, ...(plain.metrics && { metrics: plain.metrics.map(metricToOlder) }) },
    }),
    ...(status && {
      status: {
        ...status,
        ...(status.currentMetrics && { currentMetrics: status.currentMetrics.map(statusToOlder) }),
      },
    }),
  } as ApiObject;
}

export function stableToStored(object: ApiObject): HorizontalPodAutoscaler {
  const { spec, status, ...autoscaler } = object as v1.HorizontalPodAutoscaler;
  const parts = readParts(autoscaler.metadata);
  return {
    ...autoscaler,
    metadata: withoutParts(autoscaler.metadata),
    ...(spec && { spec: specToStored(spec, parts) }),
    ...(status && { status: statusToStored(status, parts) }),
  };
}

type Parts = ReturnType<typeof readParts>;

function specToStored(
  { targetCPUUtilizationPercentage: cpuPercent, ...spec }: v1.HorizontalPodAutoscalerSpec,
  { metrics: others = [], behavior }: Parts,
): HorizontalPodAutoscalerSpec {
  const metrics = others.map(metricFromOlder);
  if (cpuPercent !== undefined) metrics.push(cpuUse(cpuPercent));
  else if (metrics.length === 0) metrics.push(cpuUse(defaultCpuPercent));
  return { ...spec, metrics, ...(behavior && { behavior }) };
}

function statusToStored(
  { currentCPUUtilizationPercentage: cpuPercent, ...status }: v1.HorizontalPodAutoscalerStatus,
  { currentMetrics, conditions }: Parts,
): HorizontalPodAutoscalerStatus {
  // The annotation says more than the field.
  const fromField = cpuPercent === undefined ? undefined : [cpuStatus(cpuPercent)];
  const metrics = currentMetrics?.map(statusFromOlder) ?? fromField;
  return {
    ...status,
    ...(metrics && { currentMetrics: metrics }),
    ...(conditions && { conditions: [...conditions] }),
  };
}

export function stableFromStored(object: HorizontalPodAutoscaler): ApiObject {
  const { spec, status, metadata, ...autoscaler } = object;
  const { metrics = [], behavior, ...plain } = spec ?? ({} as Partial<HorizontalPodAutoscalerSpec>);
  const cpuPercent = metrics.find(isCpuUse)?.resource?.target.averageUtilization;
  const field = metrics.findIndex(isCpuUse);
  const converted: v1.HorizontalPodAutoscaler = {
    ...autoscaler,
    metadata: withParts(metadata, {
      metrics: metrics.filter((_metric, index) => index !== field).map(metricToOlder),
      currentMetrics: status?.currentMetrics?.map(statusToOlder),
      conditions: status?.conditions,
      behavior,
    }),
    ...(spec && {
      spec: {
        ...(plain as v1.HorizontalPodAutoscalerSpec),
        ...(cpuPercent !== undefined && { targetCPUUtilizationPercentage: cpuPercent }),
      },
    }),
    ...(status && { status: statusFromStored(status) }),
  };
  return converted;
}

function statusFromStored({
  currentMetrics,
  conditions: _conditions,
  ...status
}: HorizontalPodAutoscalerStatus): v1.HorizontalPodAutoscalerStatus {
  const cpu = currentMetrics?.find(
    ({ type, resource }) => type === 'Resource' && resource?.name === 'cpu',
  );
  const percent = cpu?.resource?.current.averageUtilization;
  return {
    ...status,
    ...(percent !== undefined && { currentCPUUtilizationPercentage: percent }),
  };
}

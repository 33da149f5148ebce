/**
 * Converts HorizontalPodAutoscaler between its older versions and the stored `v2beta2`. `v1` has a
 * field for CPU utilization only; the other metrics are annotations there, and so is the behavior
 * in `v2beta1`.
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
import {
  readAnnotatedFields,
  withAnnotatedFields,
  withoutAnnotatedFields,
} from './autoscaler-annotations.js';
import {
  metricFromOlder,
  metricToOlder,
  statusFromOlder,
  statusToOlder,
} from './metric-conversion.js';

const defaultCpuPercent = 80;

/** Reports whether `v1` has a field for the metric. */
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

export function betaToStored(object: v2beta1.HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { spec, status, ...autoscaler } = object;
  const { behavior } = readAnnotatedFields(autoscaler.metadata);
  return {
    ...autoscaler,
    metadata: withoutAnnotatedFields(autoscaler.metadata),
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
  const { behavior, ...plain }: Partial<HorizontalPodAutoscalerSpec> = spec ?? {};
  return {
    ...autoscaler,
    metadata: withAnnotatedFields(metadata, { behavior }),
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

export function stableToStored(object: v1.HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { spec, status, ...autoscaler } = object;
  const fields = readAnnotatedFields(autoscaler.metadata);
  return {
    ...autoscaler,
    metadata: withoutAnnotatedFields(autoscaler.metadata),
    ...(spec && { spec: specToStored(spec, fields) }),
    ...(status && { status: statusToStored(status, fields) }),
  };
}

type StoredFields = ReturnType<typeof readAnnotatedFields>;

function specToStored(
  { targetCPUUtilizationPercentage: cpuPercent, ...spec }: v1.HorizontalPodAutoscalerSpec,
  { metrics: others = [], behavior }: StoredFields,
): HorizontalPodAutoscalerSpec {
  const metrics = others.map(metricFromOlder);
  if (cpuPercent !== undefined) metrics.push(cpuUse(cpuPercent));
  else if (metrics.length === 0) metrics.push(cpuUse(defaultCpuPercent));
  return { ...spec, metrics, ...(behavior && { behavior }) };
}

function statusToStored(
  { currentCPUUtilizationPercentage: cpuPercent, ...status }: v1.HorizontalPodAutoscalerStatus,
  { currentMetrics, conditions }: StoredFields,
): HorizontalPodAutoscalerStatus {
  // The annotation has more detail than the field.
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
  const { metrics = [], behavior, ...plain }: Partial<HorizontalPodAutoscalerSpec> = spec ?? {};
  const cpuPercent = metrics.find(isCpuUse)?.resource?.target.averageUtilization;
  const field = metrics.findIndex(isCpuUse);
  const converted: v1.HorizontalPodAutoscaler = {
    ...autoscaler,
    metadata: withAnnotatedFields(metadata, {
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

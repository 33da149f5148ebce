/**
 * Converts autoscaler metrics between two shapes: the stored one of `v2beta2`, where every source
 * has a target, and the one of `v2beta1` and the `v1` annotations, where each kind of target is a
 * field. A quantity that the old shape cannot omit is zero there, and is omitted again on the way
 * back.
 */

import { Quantity } from '@orch/apimachinery';
import { knownKeys } from '@orch/component';
import type * as older from '@orch/types/autoscaling/v1';
import type { MetricSpec, MetricStatus, MetricTarget } from '@orch/types/autoscaling/v2beta2';

const zero = '0';

/** Removes undefined members. */
function compact<T extends object>(object: T): T {
  for (const key of knownKeys(object)) {
    if (object[key] === undefined) delete object[key];
  }
  return object;
}

function unlessZero(amount: string): string | undefined {
  return Quantity.parse(amount).isZero ? undefined : amount;
}

export function metricToOlder(metric: MetricSpec): older.MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && {
      ...compact({ target: object.describedObject, metricName: object.metric.name }),
      targetValue: object.target.value ?? zero,
      ...compact({ selector: object.metric.selector, averageValue: object.target.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? zero,
      ...compact({ selector: pods.metric.selector }),
    },
    resource: resource && { name: resource.name, ...olderTarget(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...olderTarget(containerResource.target),
      container: containerResource.container,
    },
    external:
      external &&
      compact({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

function olderTarget({ averageUtilization, averageValue }: MetricTarget): {
  targetAverageUtilization?: number;
  targetAverageValue?: string;
} {
  return compact({
    targetAverageUtilization: averageUtilization,
    targetAverageValue: averageValue,
  });
}

export function metricFromOlder(metric: older.MetricSpec): MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && {
      describedObject: object.target,
      target: valueTarget(
        object.averageValue === undefined ? object.targetValue : unlessZero(object.targetValue),
        object.averageValue,
      ),
      metric: compact({ name: object.metricName, selector: object.selector }),
    },
    pods: pods && {
      metric: compact({ name: pods.metricName, selector: pods.selector }),
      target: valueTarget(undefined, pods.targetAverageValue),
    },
    resource: resource && { name: resource.name, target: resourceTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: resourceTarget(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: compact({ name: external.metricName, selector: external.metricSelector }),
      target: valueTarget(external.targetValue, external.targetAverageValue),
    },
  });
}

function valueTarget(value: string | undefined, averageValue: string | undefined): MetricTarget {
  const type = averageValue === undefined ? 'Value' : 'AverageValue';
  return compact({ type, value, averageValue });
}

function resourceTarget(resource: older.ResourceMetricSource): MetricTarget {
  const { targetAverageUtilization, targetAverageValue } = resource;
  return compact({
    type: targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    averageValue: targetAverageValue,
    averageUtilization: targetAverageUtilization,
  });
}

export function statusToOlder(metric: MetricStatus): older.MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && {
      target: object.describedObject,
      metricName: object.metric.name,
      currentValue: object.current.value ?? zero,
      ...compact({ selector: object.metric.selector, averageValue: object.current.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? zero,
      ...compact({ selector: pods.metric.selector }),
    },
    resource: resource && olderResourceStatus(resource),
    containerResource: containerResource && {
      ...olderResourceStatus(containerResource),
      container: containerResource.container,
    },
    external: external && {
      ...compact({ metricName: external.metric.name, metricSelector: external.metric.selector }),
      currentValue: external.current.value ?? zero,
      ...compact({ currentAverageValue: external.current.averageValue }),
    },
  });
}

function olderResourceStatus({
  name,
  current,
}: NonNullable<MetricStatus['resource']>): older.ResourceMetricStatus {
  return {
    ...compact({ name, currentAverageUtilization: current.averageUtilization }),
    currentAverageValue: current.averageValue ?? zero,
  };
}

export function statusFromOlder(metric: older.MetricStatus): MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && {
      metric: compact({ name: object.metricName, selector: object.selector }),
      current: compact({
        value: unlessZero(object.currentValue),
        averageValue: object.averageValue,
      }),
      describedObject: object.target,
    },
    pods: pods && {
      metric: compact({ name: pods.metricName, selector: pods.selector }),
      current: compact({ averageValue: unlessZero(pods.currentAverageValue) }),
    },
    resource: resource && resourceStatus(resource),
    containerResource: containerResource && {
      ...resourceStatus(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: compact({ name: external.metricName, selector: external.metricSelector }),
      current: compact({
        value: unlessZero(external.currentValue),
        averageValue: external.currentAverageValue,
      }),
    },
  });
}

function resourceStatus(status: older.ResourceMetricStatus): NonNullable<MetricStatus['resource']> {
  return {
    name: status.name,
    current: compact({
      averageValue: unlessZero(status.currentAverageValue),
      averageUtilization: status.currentAverageUtilization,
    }),
  };
}

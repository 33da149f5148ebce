/** Validates autoscaler metrics: one source each, with one target. */
import {
  checkDns1123Label,
  type FieldError,
  type FieldPath,
  fieldError,
  pathSegmentName,
  Quantity,
} from '@orch/apimachinery';
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '@orch/types/autoscaling/v2beta2';
import { validateContainerResourceName } from '../core/resources/resource-rules.js';
import { checkOneOf, checkRequired } from '../shared/rules.js';

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
/** Field of the source by type, in validation order. */
const sources = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const;

const checkName = (name: string) => pathSegmentName(name, false);

export function validateReference(
  { kind, name }: CrossVersionObjectReference,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...checkRequired(kind, fieldPath.child('kind'), checkName),
    ...checkRequired(name, fieldPath.child('name'), checkName),
  ];
}

export function validateMetric(metric: MetricSpec, fieldPath: FieldPath): FieldError[] {
  const { type } = metric;
  const errors: FieldError[] = [];
  if (!type) {
    errors.push(fieldError.required(fieldPath.child('type'), 'must specify a metric source type'));
  }
  errors.push(...checkOneOf(type, types, fieldPath.child('type')));
  const present = Object.values(sources).filter((name) => metric[name] !== undefined);
  if (present[0]) errors.push(...validateSource(metric, present[0], fieldPath.child(present[0])));
  const requiredSource = Object.entries(sources).find(([known]) => known === type)?.[1];
  // Upstream reports an unknown type twice.
  if (!requiredSource) errors.push(...checkOneOf(type, types, fieldPath.child('type')));
  else if (!present.includes(requiredSource)) {
    const message = 'must populate information for the given metric source';
    const gated =
      requiredSource === 'containerResource'
        ? ' (only allowed when HPAContainerMetrics feature is enabled)'
        : '';
    errors.push(fieldError.required(fieldPath.child(requiredSource), message + gated));
  }
  if (present.length > 1) {
    for (const name of present.filter((field) => field !== requiredSource)) {
      const message = 'must populate the given metric source only';
      errors.push(fieldError.forbidden(fieldPath.child(name), message));
    }
  }
  return errors;
}

function validateSource(
  { object, external, pods, resource, containerResource }: MetricSpec,
  name: (typeof sources)[keyof typeof sources],
  fieldPath: FieldPath,
): FieldError[] {
  if (name === 'object' && object) {
    return [
      ...validateReference(object.describedObject, fieldPath.child('describedObject')),
      ...validateIdentifier(object.metric, fieldPath.child('metric')),
      ...validateTarget(object.target, fieldPath.child('target')),
      ...requireValue(object.target, fieldPath, 'must set either a target value or averageValue'),
    ];
  }
  if (name === 'external' && external) return validateExternal(external, fieldPath);
  if (name === 'pods' && pods) {
    const amount = pods.target.averageValue;
    return [
      ...validateIdentifier(pods.metric, fieldPath.child('metric')),
      ...validateTarget(pods.target, fieldPath.child('target')),
      ...(amount !== undefined
        ? []
        : [
            fieldError.required(
              fieldPath.child('target', 'averageValue'),
              'must specify a positive target averageValue',
            ),
          ]),
    ];
  }
  if (name === 'containerResource' && containerResource) {
    return validateContainerResource(containerResource, fieldPath);
  }
  return name === 'resource' && resource ? validateResource(resource, fieldPath) : [];
}

function requireValue(target: MetricTarget, fieldPath: FieldPath, message: string): FieldError[] {
  return target.value === undefined && target.averageValue === undefined
    ? [fieldError.required(fieldPath.child('target', 'averageValue'), message)]
    : [];
}

function validateExternal(
  { metric, target }: NonNullable<MetricSpec['external']>,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = [
    ...validateIdentifier(metric, fieldPath.child('metric')),
    ...validateTarget(target, fieldPath.child('target')),
    ...requireValue(
      target,
      fieldPath,
      'must set either a target value for metric or a per-pod target',
    ),
  ];
  if (target.value !== undefined && target.averageValue !== undefined) {
    errors.push(
      fieldError.forbidden(
        fieldPath.child('target', 'value'),
        'may not set both a target value for metric and a per-pod target',
      ),
    );
  }
  return errors;
}

function validateResource(
  { name, target }: NonNullable<MetricSpec['resource']>,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...checkRequired(name, fieldPath.child('name'), undefined, 'must specify a resource name'),
    ...validateResourceTarget(target, fieldPath.child('target')),
  ];
}

function validateContainerResource(
  { name, container, target }: NonNullable<MetricSpec['containerResource']>,
  fieldPath: FieldPath,
): FieldError[] {
  const missing = 'must specify a container';
  return [
    ...checkRequired(name, fieldPath.child('name'), undefined, 'must specify a resource name'),
    ...(name ? validateContainerResourceName(name, fieldPath.child('name')) : []),
    ...checkRequired(container, fieldPath.child('container'), checkDns1123Label, missing),
    ...validateResourceTarget(target, fieldPath.child('target')),
  ];
}

/** A resource has exactly one of a raw value and a utilization. */
function validateResourceTarget(target: MetricTarget, fieldPath: FieldPath): FieldError[] {
  const errors = validateTarget(target, fieldPath);
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const message = 'must set either a target raw value or a target utilization';
    errors.push(fieldError.required(fieldPath.child('averageUtilization'), message));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const message = 'may not set both a target raw value and a target utilization';
    errors.push(fieldError.forbidden(fieldPath.child('averageValue'), message));
  }
  return errors;
}

function validateIdentifier({ name }: MetricIdentifier, fieldPath: FieldPath): FieldError[] {
  return checkRequired(name, fieldPath.child('name'), checkName, 'must specify a metric name');
}

function validateTarget(target: MetricTarget, fieldPath: FieldPath): FieldError[] {
  const { type, averageUtilization } = target;
  const errors: FieldError[] = [];
  if (!type)
    errors.push(fieldError.required(fieldPath.child('type'), 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    const message = 'must be either Utilization, Value, or AverageValue';
    errors.push(fieldError.invalid(fieldPath.child('type'), type, message));
  }
  for (const name of ['value', 'averageValue'] as const) {
    const amount = target[name];
    if (amount !== undefined && !isPositive(amount)) {
      errors.push(fieldError.invalid(fieldPath.child(name), amount, 'must be positive'));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    const field = fieldPath.child('averageUtilization');
    errors.push(fieldError.invalid(field, averageUtilization, 'must be greater than 0'));
  }
  return errors;
}

function isPositive(amount: string): boolean {
  return Quantity.parse(amount).compare(Quantity.parse('0')) > 0;
}

/** Rules of the metrics of autoscalers: one source each, and a target of it. */
import {
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
import { checkOneOf, checkRequired } from '../shared/rules.js';

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
/** Name of the source by type, in the order in which sources are looked at. */
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
  at: FieldPath,
): FieldError[] {
  return [
    ...checkRequired(kind, at.child('kind'), checkName),
    ...checkRequired(name, at.child('name'), checkName),
  ];
}

export function validateMetric(metric: MetricSpec, at: FieldPath): FieldError[] {
  const { type } = metric;
  const errors: FieldError[] = [];
  if (!type) {
    errors.push(fieldError.required(at.child('type'), 'must specify a metric source type'));
  }
  errors.push(...checkOneOf(type, types, at.child('type')));
  const present = Object.values(sources).filter((name) => metric[name] !== undefined);
  if (present[0]) errors.push(...validateSource(metric, present[0], at.child(present[0])));
  const wanted = sources[type as keyof typeof sources] as (typeof present)[number] | undefined;
  if (wanted && !present.includes(wanted)) {
    const message = 'must populate information for the given metric source';
    errors.push(fieldError.required(at.child(wanted), message));
  }
  if (present.length > 1) {
    for (const name of present.filter((one) => one !== wanted)) {
      const message = 'must populate the given metric source only';
      errors.push(fieldError.forbidden(at.child(name), message));
    }
  }
  return errors;
}

function validateSource(
  { object, external, pods, resource }: MetricSpec,
  name: (typeof sources)[keyof typeof sources],
  at: FieldPath,
): FieldError[] {
  if (name === 'object' && object) {
    return [
      ...validateReference(object.describedObject, at.child('describedObject')),
      ...validateIdentifier(object.metric, at.child('metric')),
      ...validateTarget(object.target, at.child('target')),
      ...requireValue(object.target, at, 'must set either a target value or averageValue'),
    ];
  }
  if (name === 'external' && external) return validateExternal(external, at);
  if (name === 'pods' && pods) {
    const amount = pods.target.averageValue;
    return [
      ...validateIdentifier(pods.metric, at.child('metric')),
      ...validateTarget(pods.target, at.child('target')),
      ...(amount !== undefined && isPositive(amount)
        ? []
        : [
            fieldError.required(
              at.child('target', 'averageValue'),
              'must specify a positive target averageValue',
            ),
          ]),
    ];
  }
  return name === 'resource' && resource ? validateResource(resource, at) : [];
}

function requireValue(target: MetricTarget, at: FieldPath, message: string): FieldError[] {
  return target.value === undefined && target.averageValue === undefined
    ? [fieldError.required(at.child('target', 'averageValue'), message)]
    : [];
}

function validateExternal(
  { metric, target }: NonNullable<MetricSpec['external']>,
  at: FieldPath,
): FieldError[] {
  const errors = [
    ...validateIdentifier(metric, at.child('metric')),
    ...validateTarget(target, at.child('target')),
    ...requireValue(target, at, 'must set either a target value for metric or a per-pod target'),
  ];
  if (target.value !== undefined && target.averageValue !== undefined) {
    errors.push(
      fieldError.forbidden(
        at.child('target', 'value'),
        'may not set both a target value for metric and a per-pod target',
      ),
    );
  }
  return errors;
}

function validateResource(
  { name, target }: NonNullable<MetricSpec['resource']>,
  at: FieldPath,
): FieldError[] {
  const targetAt = at.child('target');
  const errors = [
    ...checkRequired(name, at.child('name'), undefined, 'must specify a resource name'),
    ...validateTarget(target, targetAt),
  ];
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const message = 'must set either a target raw value or a target utilization';
    errors.push(fieldError.required(targetAt.child('averageUtilization'), message));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const message = 'may not set both a target raw value and a target utilization';
    errors.push(fieldError.forbidden(targetAt.child('averageValue'), message));
  }
  return errors;
}

function validateIdentifier({ name }: MetricIdentifier, at: FieldPath): FieldError[] {
  return checkRequired(name, at.child('name'), checkName, 'must specify a metric name');
}

function validateTarget(target: MetricTarget, at: FieldPath): FieldError[] {
  const { type, averageUtilization } = target;
  const errors: FieldError[] = [];
  if (!type)
    errors.push(fieldError.required(at.child('type'), 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    const message = 'must be either Utilization, Value, or AverageValue';
    errors.push(fieldError.invalid(at.child('type'), type, message));
  }
  for (const name of ['value', 'averageValue'] as const) {
    const amount = target[name];
    if (amount !== undefined && !isPositive(amount)) {
      errors.push(fieldError.invalid(at.child(name), amount, 'must be positive'));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    const field = at.child('averageUtilization');
    errors.push(fieldError.invalid(field, averageUtilization, 'must be greater than 0'));
  }
  return errors;
}

function isPositive(amount: string): boolean {
  return Quantity.parse(amount).compare(Quantity.parse('0')) > 0;
}

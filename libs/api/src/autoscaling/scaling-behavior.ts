/** Defaults and validation of the scaling behavior of an autoscaler. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  HorizontalPodAutoscalerBehavior,
  HPAScalingPolicy,
  HPAScalingRules,
} from '@orch/types/autoscaling/v2beta2';
import { checkOneOf } from '../shared/rules.js';

const windowSecondsMax = 3600;
const periodSecondsMax = 1800;

/**
 * Sets each missing member; the controller knows the default stabilization window for scaling down.
 */
export function setBehaviorDefaults(behavior: HorizontalPodAutoscalerBehavior): void {
  const everything: HPAScalingPolicy = { type: 'Percent', value: 100, periodSeconds: 15 };
  behavior.scaleUp = {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, everything],
    ...behavior.scaleUp,
  };
  behavior.scaleDown = {
    selectPolicy: 'Max',
    policies: [{ ...everything }],
    ...behavior.scaleDown,
  };
}

export function validateBehavior(
  behavior: HorizontalPodAutoscalerBehavior | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...validateRules(behavior?.scaleUp, fieldPath.child('scaleUp')),
    ...validateRules(behavior?.scaleDown, fieldPath.child('scaleDown')),
  ];
}

function validateRules(rules: HPAScalingRules | undefined, fieldPath: FieldPath): FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [] } = rules;
  const windowAt = fieldPath.child('stabilizationWindowSeconds');
  const errors: FieldError[] = [];
  if (window < 0) {
    errors.push(fieldError.invalid(windowAt, window, 'must be greater than or equal to zero'));
  }
  errors.push(...checkAtMost(window, windowSecondsMax, windowAt));
  if (selectPolicy !== undefined) {
    const field = fieldPath.child('selectPolicy');
    errors.push(...checkOneOf(selectPolicy, ['Disabled', 'Max', 'Min'], field));
  }
  const policiesAt = fieldPath.child('policies');
  if (policies.length === 0) {
    errors.push(fieldError.required(policiesAt, 'must specify at least one Policy'));
  }
  return [
    ...errors,
    ...policies.flatMap((policy, index) => validatePolicy(policy, policiesAt.index(index))),
  ];
}

function validatePolicy(policy: HPAScalingPolicy, fieldPath: FieldPath): FieldError[] {
  const errors = checkOneOf(policy.type, ['Percent', 'Pods'], fieldPath.child('type'));
  for (const name of ['value', 'periodSeconds'] as const) {
    if (policy[name] > 0) continue;
    errors.push(
      fieldError.invalid(fieldPath.child(name), policy[name], 'must be greater than zero'),
    );
  }
  return [
    ...errors,
    ...checkAtMost(policy.periodSeconds, periodSecondsMax, fieldPath.child('periodSeconds')),
  ];
}

function checkAtMost(value: number, most: number, fieldPath: FieldPath): FieldError[] {
  if (value <= most) return [];
  return [fieldError.invalid(fieldPath, value, `must be less than or equal to ${most}`)];
}

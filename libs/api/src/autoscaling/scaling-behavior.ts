/** How fast an autoscaler may go up and down: its defaults and its rules. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  HorizontalPodAutoscalerBehavior,
  HPAScalingPolicy,
  HPAScalingRules,
} from '@orch/types/autoscaling/v2beta2';
import { checkOneOf } from '../shared/rules.js';

const windowSecondsMax = 3600;
const periodSecondsMax = 1800;

/** Members are filled in one by one; how long to wait before going down is the controller's to know. */
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
  at: FieldPath,
): FieldError[] {
  return [
    ...validateRules(behavior?.scaleUp, at.child('scaleUp')),
    ...validateRules(behavior?.scaleDown, at.child('scaleDown')),
  ];
}

function validateRules(rules: HPAScalingRules | undefined, at: FieldPath): FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [] } = rules;
  const windowAt = at.child('stabilizationWindowSeconds');
  const errors: FieldError[] = [];
  if (window < 0) {
    errors.push(fieldError.invalid(windowAt, window, 'must be greater than or equal to zero'));
  }
  errors.push(...checkAtMost(window, windowSecondsMax, windowAt));
  if (selectPolicy !== undefined) {
    const field = at.child('selectPolicy');
    errors.push(...checkOneOf(selectPolicy, ['Disabled', 'Max', 'Min'], field));
  }
  const policiesAt = at.child('policies');
  if (policies.length === 0) {
    errors.push(fieldError.required(policiesAt, 'must specify at least one Policy'));
  }
  return [
    ...errors,
    ...policies.flatMap((policy, index) => validatePolicy(policy, policiesAt.index(index))),
  ];
}

function validatePolicy(policy: HPAScalingPolicy, at: FieldPath): FieldError[] {
  const errors = checkOneOf(policy.type, ['Percent', 'Pods'], at.child('type'));
  for (const name of ['value', 'periodSeconds'] as const) {
    if (policy[name] > 0) continue;
    errors.push(fieldError.invalid(at.child(name), policy[name], 'must be greater than zero'));
  }
  return [
    ...errors,
    ...checkAtMost(policy.periodSeconds, periodSecondsMax, at.child('periodSeconds')),
  ];
}

function checkAtMost(value: number, most: number, at: FieldPath): FieldError[] {
  if (value <= most) return [];
  return [fieldError.invalid(at, value, `must be less than or equal to ${most}`)];
}

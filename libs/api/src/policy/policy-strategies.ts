/** Validates the strategies of a policy for users, groups and labels: a rule, and ranges of ids. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  IDRange,
  PodSecurityPolicySpec,
  RunAsGroupStrategyOptions,
} from '@orch/types/policy/v1beta1';
import { checkOneOf } from '../shared/rules.js';

const groupRules = ['MayRunAs', 'MustRunAs', 'RunAsAny'];

interface Strategy {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
}

export function validateStrategies(
  spec: Partial<PodSecurityPolicySpec>,
  fieldPath: FieldPath,
): FieldError[] {
  const userRules = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'];
  const labelRules = ['MustRunAs', 'RunAsAny'];
  return [
    ...validateStrategy(spec.runAsUser, userRules, fieldPath.child('runAsUser')),
    ...validateRunAsGroup(spec.runAsGroup, fieldPath.child('runAsGroup')),
    ...checkOneOf(spec.seLinux?.rule ?? '', labelRules, fieldPath.child('seLinux', 'rule')),
    ...validateStrategy(spec.supplementalGroups, groupRules, fieldPath.child('supplementalGroups')),
    ...validateStrategy(spec.fsGroup, groupRules, fieldPath.child('fsGroup')),
  ];
}

function validateStrategy(
  { rule = '', ranges }: Strategy = {},
  rules: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...checkOneOf(rule, rules, fieldPath.child('rule')),
    ...validateRanges(ranges, fieldPath.child('ranges')),
  ];
}

function validateRunAsGroup(
  strategy: RunAsGroupStrategyOptions | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (!strategy) return [];
  const { rule, ranges = [] } = strategy;
  const rangesAt = fieldPath.child('ranges');
  switch (rule) {
    case 'RunAsAny':
      return ranges.length === 0
        ? []
        : [fieldError.invalid(rangesAt, ranges, 'Ranges must be empty')];
    case 'MustRunAs':
    case 'MayRunAs':
      return ranges.length === 0
        ? [fieldError.invalid(rangesAt, ranges, 'must provide at least one range')]
        : validateRanges(ranges, rangesAt);
    default:
      return [
        fieldError.notSupported(fieldPath.child('rule'), rule, [
          'MustRunAs',
          'RunAsAny',
          'MayRunAs',
        ]),
      ];
  }
}

function validateRanges(ranges: readonly IDRange[] = [], fieldPath: FieldPath): FieldError[] {
  return ranges.flatMap(({ min, max }, index) => {
    const field = fieldPath.index(index);
    const errors: FieldError[] = [];
    if (min < 0) errors.push(fieldError.invalid(field.child('min'), min, 'min cannot be negative'));
    if (max < 0) errors.push(fieldError.invalid(field.child('max'), max, 'max cannot be negative'));
    if (min > max) {
      errors.push(fieldError.invalid(field.child('min'), min, 'min cannot be greater than max'));
    }
    return errors;
  });
}

/** The part of jobs that cron jobs share: the template and the number of successful pods. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JobSpec } from '@orch/types/batch/v1';
import { gatedTemplateFields } from '../core/pod/pod-gated-fields.js';
import { validatePodTemplate } from '../core/template/pod-template.js';
import type { GatedField } from '../definition.js';
import { checkNotNegative, checkOneOf } from '../shared/rules.js';

const policies = ['OnFailure', 'Never'];

export const gatedJobFields: readonly GatedField[] = [
  { gate: 'IndexedJob', path: 'spec.completionMode' },
  { gate: 'SuspendJob', path: 'spec.suspend' },
  { gate: 'TTLAfterFinished', path: 'spec.ttlSecondsAfterFinished' },
  ...gatedTemplateFields,
];

const indexedParallelismMax = 100_000;

/** Validates everything but the selector, which job templates do not have. */
export function validateJobSpec(spec: Partial<JobSpec>, fieldPath: FieldPath): FieldError[] {
  const counts = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
  ] as const;
  return [
    ...counts.flatMap((name) => checkNotNegative(spec[name], fieldPath.child(name))),
    ...validateCompletionMode(spec, fieldPath),
    ...validatePodTemplate(spec.template, fieldPath.child('template')),
    ...validateRestartPolicy(spec, fieldPath.child('template', 'spec', 'restartPolicy')),
  ];
}

function validateCompletionMode(
  { completionMode: mode, completions, parallelism }: Partial<JobSpec>,
  fieldPath: FieldPath,
): FieldError[] {
  if (mode === undefined) return [];
  const errors = checkOneOf(mode, ['NonIndexed', 'Indexed'], fieldPath.child('completionMode'));
  if (mode !== 'Indexed') return errors;
  const detail = 'when completion mode is Indexed';
  if (completions === undefined) {
    errors.push(fieldError.required(fieldPath.child('completions'), detail));
  }
  if (parallelism !== undefined && parallelism > indexedParallelismMax) {
    const limit = `must be less than or equal to ${indexedParallelismMax} ${detail}`;
    errors.push(fieldError.invalid(fieldPath.child('parallelism'), parallelism, limit));
  }
  return errors;
}

/** Pods that always restart never terminate. */
function validateRestartPolicy({ template }: Partial<JobSpec>, fieldPath: FieldPath): FieldError[] {
  const policy = template?.spec?.restartPolicy ?? 'Always';
  if (policy === 'Always' || policy === '') {
    return [fieldError.required(fieldPath, 'valid values: "OnFailure", "Never"')];
  }
  return policies.includes(policy) ? [] : [fieldError.notSupported(fieldPath, policy, policies)];
}

/** The part of jobs that cron jobs hold as well: how many pods of a template have to succeed. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JobSpec } from '@orch/types/batch/v1';
import { gatedTemplateFields } from '../core/pod-gated-fields.js';
import { validatePodTemplate } from '../core/pod-template.js';
import type { GatedField } from '../shared/gated-fields.js';
import { checkNotNegative } from '../shared/rules.js';

const policies = ['OnFailure', 'Never'];

/** There are neither indexes nor pauses. */
export const gatedJobFields: readonly GatedField[] = [
  { path: 'spec.completionMode' },
  { path: 'spec.suspend' },
  ...gatedTemplateFields,
];

/** All but the selector, which a job has and a template of jobs has not. */
export function validateJobSpec(spec: Partial<JobSpec>, at: FieldPath): FieldError[] {
  const counts = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
  ] as const;
  return [
    ...counts.flatMap((name) => checkNotNegative(spec[name], at.child(name))),
    ...validatePodTemplate(spec.template, at.child('template')),
    ...validateRestartPolicy(spec, at.child('template', 'spec', 'restartPolicy')),
  ];
}

/** Pods that always restart never end. */
function validateRestartPolicy({ template }: Partial<JobSpec>, at: FieldPath): FieldError[] {
  const policy = template?.spec?.restartPolicy ?? 'Always';
  if (policy === 'Always' || policy === '') {
    return [fieldError.required(at, 'valid values: "OnFailure", "Never"')];
  }
  return policies.includes(policy) ? [] : [fieldError.notSupported(at, policy, policies)];
}

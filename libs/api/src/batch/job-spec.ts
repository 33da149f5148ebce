/** The part of jobs that cron jobs hold as well: how many pods of a template have to succeed. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JobSpec } from '@orch/types/batch/v1';
import { dropDisabledFields } from '../core/disabled-fields.js';
import { validatePodTemplate } from '../core/pod-template.js';
import { checkNotNegative } from '../shared/rules.js';

const policies = ['OnFailure', 'Never'];

/** Indexes and pauses belong to features that are off. */
export function dropDisabledJobFields(spec: JobSpec | undefined): void {
  if (!spec) return;
  delete spec.completionMode;
  delete spec.suspend;
  dropDisabledFields(spec.template?.spec);
}

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

/** CronJob: creates jobs from a template on a schedule. */
import {
  ageCell,
  CronScheduleError,
  type FieldError,
  type FieldPath,
  fieldError,
  parseCronSchedule,
  path,
} from '@orch/apimachinery';
import type { CronJob, CronJobSpec, JobTemplateSpec } from '@orch/types/batch/v1';
import { gatedTemplateFields } from '../core/pod/pod-gated-fields.js';
import {
  selectorColumn,
  setPodTemplateDefaults,
  templateColumns,
} from '../core/template/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { below } from '../shared/gated-fields.js';
import { checkNotNegative, checkRequiredOneOf } from '../shared/rules.js';
import { validateJobSpec } from './job-spec.js';

/** Leaves eleven characters for the suffix of the job names. */
const nameLengthMax = 52;

function setCronJobDefaults({ spec }: CronJob): void {
  setPodTemplateDefaults(spec?.jobTemplate?.spec?.template);
}

function validateCronJob(object: CronJob): FieldError[] {
  const spec: Partial<CronJobSpec> = object.spec ?? {};
  const fieldPath = path('spec');
  return [
    ...validateSchedule(spec.schedule, fieldPath.child('schedule')),
    ...checkNotNegative(spec.startingDeadlineSeconds, fieldPath.child('startingDeadlineSeconds')),
    ...checkRequiredOneOf(
      spec.concurrencyPolicy,
      ['Allow', 'Forbid', 'Replace'],
      fieldPath.child('concurrencyPolicy'),
    ),
    ...validateJobTemplate(spec.jobTemplate, fieldPath.child('jobTemplate', 'spec')),
    ...checkNotNegative(
      spec.successfulJobsHistoryLimit,
      fieldPath.child('successfulJobsHistoryLimit'),
    ),
    ...checkNotNegative(spec.failedJobsHistoryLimit, fieldPath.child('failedJobsHistoryLimit')),
  ];
}

function validateSchedule(schedule: string | undefined, fieldPath: FieldPath): FieldError[] {
  if (!schedule) return [fieldError.required(fieldPath)];
  try {
    parseCronSchedule(schedule);
    return [];
  } catch (error) {
    if (!(error instanceof CronScheduleError)) throw error;
    return [fieldError.invalid(fieldPath, schedule, error.message)];
  }
}

/** A job template must not have a selector: jobs get a generated one. */
function validateJobTemplate(
  template: JobTemplateSpec | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const { selector, manualSelector } = template?.spec ?? {};
  const errors = validateJobSpec(template?.spec ?? {}, fieldPath);
  if (selector) {
    const message = '`selector` will be auto-generated';
    errors.push(fieldError.invalid(fieldPath.child('selector'), selector, message));
  }
  if (manualSelector) {
    errors.push(fieldError.notSupported(fieldPath.child('manualSelector'), true, ['nil', 'false']));
  }
  return errors;
}

function validateName({ metadata }: CronJob): FieldError[] {
  const name = metadata?.name ?? '';
  if (name.length <= nameLengthMax) return [];
  const message = `must be no more than ${nameLengthMax} characters`;
  return [fieldError.invalid(path('metadata', 'name'), name, message)];
}

function suspendCell({ spec }: CronJob): string {
  if (spec?.suspend === undefined) return '<unset>';
  return spec.suspend ? 'True' : 'False';
}

const columns: readonly TableColumn<CronJob>[] = [
  nameColumn(),
  {
    name: 'Schedule',
    type: 'string',
    description: 'Schedule in cron format.',
    cell: (object) => object.spec?.schedule ?? '',
  },
  {
    name: 'Suspend',
    type: 'boolean',
    description: 'Whether the schedule is suspended.',
    cell: suspendCell,
  },
  {
    name: 'Active',
    type: 'integer',
    description: 'Number of running jobs.',
    cell: (object) => object.status?.active?.length ?? 0,
  },
  {
    name: 'Last Schedule',
    type: 'string',
    description: 'Time since the last scheduled job.',
    cell: ({ status }, nowMs) =>
      status?.lastScheduleTime === undefined ? none : ageCell(status.lastScheduleTime, nowMs),
  },
  ageColumn(),
  ...templateColumns<CronJob>((object) => object.spec?.jobTemplate?.spec?.template),
  selectorColumn((object) => object.spec?.jobTemplate?.spec?.selector),
];

export const cronJob = define<CronJob>({
  plural: 'cronjobs',
  singular: '',
  kind: 'CronJob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  versions: [
    { group: 'batch', version: 'v1', setDefaults: (object) => setCronJobDefaults(object) },
    {
      group: 'batch',
      version: 'v1beta1',
      setDefaults: (object) => setCronJobDefaults(object),
      defaultPropagation: 'orphan',
      emptySelectableFields: ['status.successful'],
      deprecation: {
        since: '1.21',
        unavailableFrom: '1.25',
        use: { group: 'batch', version: 'v1', kind: 'CronJob' },
      },
    },
  ],
  stored: { group: 'batch', version: 'v1' },

  gatedFields: below('spec.jobTemplate', gatedTemplateFields),
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateCronJob,
  validateCreate: validateName,
  updateChecks: ['metadataUpdate', 'object'],

  columns,
  status: {},
});

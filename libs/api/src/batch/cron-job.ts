/** CronJob: makes jobs of a template at the times of a schedule. */
import { ageCell, type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import type { CronJob, CronJobSpec, JobTemplateSpec } from '@orch/types/batch/v1';
import { selectorColumn, setPodTemplateDefaults, templateColumns } from '../core/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { below } from '../shared/gated-fields.js';
import { checkNotNegative, checkRequiredOneOf } from '../shared/rules.js';
import { CronScheduleError, parseCronSchedule } from './cron-schedule.js';
import { gatedJobFields, validateJobSpec } from './job-spec.js';

/** Eleven characters are left for what tells the jobs apart. */
const nameLengthMax = 52;

function setCronJobDefaults({ spec }: CronJob): void {
  setPodTemplateDefaults(spec?.jobTemplate?.spec?.template);
}

function validateCronJob(object: CronJob): FieldError[] {
  const spec: Partial<CronJobSpec> = object.spec ?? {};
  const at = path('spec');
  return [
    ...validateSchedule(spec.schedule, at.child('schedule')),
    ...checkNotNegative(spec.startingDeadlineSeconds, at.child('startingDeadlineSeconds')),
    ...checkRequiredOneOf(
      spec.concurrencyPolicy,
      ['Allow', 'Forbid', 'Replace'],
      at.child('concurrencyPolicy'),
    ),
    ...validateJobTemplate(spec.jobTemplate, at.child('jobTemplate', 'spec')),
    ...checkNotNegative(spec.successfulJobsHistoryLimit, at.child('successfulJobsHistoryLimit')),
    ...checkNotNegative(spec.failedJobsHistoryLimit, at.child('failedJobsHistoryLimit')),
  ];
}

function validateSchedule(schedule: string | undefined, at: FieldPath): FieldError[] {
  if (!schedule) return [fieldError.required(at)];
  try {
    parseCronSchedule(schedule);
    return [];
  } catch (error) {
    if (!(error instanceof CronScheduleError)) throw error;
    return [fieldError.invalid(at, schedule, error.message)];
  }
}

/** Jobs of a template find their pods by labels of their own. */
function validateJobTemplate(template: JobTemplateSpec | undefined, at: FieldPath): FieldError[] {
  const { selector, manualSelector } = template?.spec ?? {};
  const errors = validateJobSpec(template?.spec ?? {}, at);
  if (selector) {
    const message = '`selector` will be auto-generated';
    errors.push(fieldError.invalid(at.child('selector'), selector, message));
  }
  if (manualSelector) {
    errors.push(fieldError.notSupported(at.child('manualSelector'), true, ['nil', 'false']));
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
    description: 'When jobs are made, in cron form.',
    cell: (object) => object.spec?.schedule ?? '',
  },
  {
    name: 'Suspend',
    type: 'boolean',
    description: 'Whether no jobs are made for now.',
    cell: suspendCell,
  },
  {
    name: 'Active',
    type: 'integer',
    description: 'Jobs that are running.',
    cell: (object) => object.status?.active?.length ?? 0,
  },
  {
    name: 'Last Schedule',
    type: 'string',
    description: 'Time since a job was made last.',
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

  gatedFields: below('spec.jobTemplate', gatedJobFields),
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateCronJob,
  validateCreate: validateName,

  columns,
  status: {},
});

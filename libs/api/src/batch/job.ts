/** Job: pods of one template until enough of them have succeeded. */
import {
  type FieldError,
  fieldError,
  formatAge,
  immutable,
  parseTime,
  path,
  semanticallyEqual,
  stringMap,
  validateLabelSelector,
} from '@orch/apimachinery';
import type { Job, JobSpec } from '@orch/types/batch/v1';
import {
  isBrokenSelector,
  labelsMismatch,
  selectorColumn,
  setPodTemplateDefaults,
  templateColumns,
} from '../core/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkNotNegative, selectorMatches } from '../shared/rules.js';
import { labelAsTemplate } from '../shared/workloads.js';
import { gatedJobFields, validateJobSpec } from './job-spec.js';

/** Labels by which a job finds its pods, unless its selector is the client's own. */
const uidLabel = 'controller-uid';
const nameLabel = 'job-name';

function setJobDefaults(object: Job): void {
  const { spec } = object;
  if (!spec) return;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= 6;
  labelAsTemplate(object);
  setPodTemplateDefaults(spec.template);
}

/** Labels and selector of the job's own making; what the client chose stays, for validation to judge. */
function identifyPods(object: Job, nameBefore: string | undefined): void {
  const { spec } = object;
  const { uid = '', name = '', labels: shown } = object.metadata ?? {};
  if (!spec || spec.manualSelector) return;
  const labels = spec.template.metadata?.labels ?? {};
  if (labels[nameLabel] === nameBefore) labels[nameLabel] = name;
  labels[uidLabel] ??= uid;
  spec.template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  spec.selector = {
    ...spec.selector,
    matchLabels: { [uidLabel]: uid, ...spec.selector?.matchLabels },
  };
  if (nameBefore !== undefined && shown?.[nameLabel] === nameBefore) shown[nameLabel] = name;
  labelAsTemplate(object);
}

function validateJob(object: Job): FieldError[] {
  const spec: Partial<JobSpec> = object.spec ?? {};
  const { selector, template } = spec;
  const at = path('spec');
  const errors = [...validateGeneratedSelector(object), ...validateJobSpec(spec, at)];
  if (selector) errors.push(...validateLabelSelector(selector, at.child('selector')));
  else errors.push(fieldError.required(at.child('selector')));
  const labels = template?.metadata?.labels;
  if (!isBrokenSelector(selector) && !selectorMatches(selector, labels)) {
    errors.push(labelsMismatch(labels, at.child('template')));
  }
  return errors;
}

function validateGeneratedSelector({ metadata, spec }: Job): FieldError[] {
  if (!spec?.selector || spec.manualSelector) return [];
  const { uid = '', name = '' } = metadata ?? {};
  const errors = uid === '' ? [fieldError.required(path('metadata', 'uid'))] : [];
  const generated = { [uidLabel]: uid, [nameLabel]: name };
  const labels = spec.template?.metadata?.labels;
  for (const [key, value] of Object.entries(generated)) {
    const at = path('spec', 'template', 'metadata', 'labels').key(key);
    const message = `must be '${value}'`;
    if (labels?.[key] === undefined) errors.push(fieldError.required(at, message));
    else if (labels[key] !== value) errors.push(fieldError.invalid(at, stringMap(labels), message));
  }
  if (!isBrokenSelector(spec.selector) && !selectorMatches(spec.selector, generated)) {
    errors.push(
      fieldError.invalid(path('spec', 'selector'), spec.selector, '`selector` not auto-generated'),
    );
  }
  return errors;
}

function validateJobUpdate(object: Job, old: Job): FieldError[] {
  const fields = ['completions', 'selector', 'template'] as const;
  return fields.flatMap((name) =>
    semanticallyEqual(object.spec?.[name], old.spec?.[name])
      ? []
      : [immutable(path('spec', name), object.spec?.[name])],
  );
}

function completionsCell({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status }: Job, nowMs: number): string {
  const startMs = parseTime(status?.startTime);
  if (startMs === undefined) return '';
  return formatAge((parseTime(status?.completionTime) ?? nowMs) - startMs);
}

const columns: readonly TableColumn<Job>[] = [
  nameColumn(),
  {
    name: 'Completions',
    type: 'string',
    description: 'Pods that have succeeded out of those that have to.',
    cell: completionsCell,
  },
  {
    name: 'Duration',
    type: 'string',
    description: 'Time it took, or has taken so far.',
    cell: durationCell,
  },
  ageColumn(),
  ...templateColumns<Job>((object) => object.spec?.template),
  selectorColumn((object) => object.spec?.selector),
];

export const job = define<Job>({
  plural: 'jobs',
  singular: '',
  kind: 'Job',
  categories: ['all'],
  namespaced: true,
  versions: [{ group: 'batch', version: 'v1', setDefaults: (object) => setJobDefaults(object) }],
  stored: { group: 'batch', version: 'v1' },
  defaultPropagation: 'orphan',

  gatedFields: gatedJobFields,
  prepareForCreate(object) {
    object.status = {};
  },
  prepareNamed: identifyPods,
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateJob,
  // An update reports what is wrong with the spec twice, as clients know it.
  validateUpdate: (object, old) => [...validateJob(object), ...validateJobUpdate(object, old)],

  columns,
  selectableFields: { 'status.successful': (object) => String(object.status?.succeeded ?? 0) },
  status: {
    validateUpdate: ({ status }) =>
      (['active', 'succeeded', 'failed'] as const).flatMap((name) =>
        checkNotNegative(status?.[name], path('status', name)),
      ),
  },
});

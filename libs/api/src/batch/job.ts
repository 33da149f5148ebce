/** Job: runs pods from one template until enough of them succeed. */
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
import type { Features } from '@orch/component';
import type { Job, JobSpec } from '@orch/types/batch/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import {
  isBrokenSelector,
  labelsMismatch,
  selectorColumn,
  setPodTemplateDefaults,
  templateColumns,
} from '../core/template/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkNotNegative, selectorMatches } from '../shared/rules.js';
import { labelAsTemplate } from '../shared/workloads.js';
import { gatedJobFields, validateJobSpec } from './job-spec.js';

/** Label of the generated selector. */
const uidLabel = 'controller-uid';
const nameLabel = 'job-name';

function setJobDefaults(object: Job, features: Features): void {
  const { spec } = object;
  if (!spec) return;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= 6;
  if (features.enabled('IndexedJob')) spec.completionMode ??= 'NonIndexed';
  if (features.enabled('SuspendJob')) spec.suspend ??= false;
  labelAsTemplate(object);
  setPodTemplateDefaults(spec.template);
}

/** Sets the generated labels and selector; values from the client stay for validation. */
function identifyPods(object: Job, nameBefore: string | undefined): void {
  const { spec } = object;
  const { uid = '', name = '', labels: ownLabels } = object.metadata ?? {};
  if (!spec || spec.manualSelector) return;
  const labels = spec.template.metadata?.labels ?? {};
  const isDefaulted = ownLabels !== undefined && semanticallyEqual(ownLabels, labels);
  if (labels[nameLabel] === nameBefore) labels[nameLabel] = name;
  labels[uidLabel] ??= uid;
  spec.template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  spec.selector = {
    ...spec.selector,
    matchLabels: { [uidLabel]: uid, ...spec.selector?.matchLabels },
  };
  // Upstream shares defaulted labels with the template.
  if (isDefaulted) Object.assign(ownLabels, labels);
}

function validateJob(object: Job): FieldError[] {
  const spec: Partial<JobSpec> = object.spec ?? {};
  const { selector, template } = spec;
  const fieldPath = path('spec');
  const errors = validateJobSpec(spec, fieldPath);
  if (selector) errors.push(...validateLabelSelector(selector, fieldPath.child('selector')));
  else errors.push(fieldError.required(fieldPath.child('selector')));
  const labels = template?.metadata?.labels;
  if (!matches(selector, labels)) {
    errors.push(labelsMismatch(labels, fieldPath.child('template')));
  }
  return errors;
}

/** Unlike other kinds, jobs may have a selector that matches everything. */
function matches(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  if (isBrokenSelector(selector)) return true;
  return isEmptySelector(selector) || selectorMatches(selector, labels);
}

type Labels = Readonly<Record<string, string>>;

function isEmptySelector(selector: LabelSelector | undefined): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

function validateGeneratedSelector({ metadata, spec }: Job): FieldError[] {
  if (!spec?.selector || spec.manualSelector) return [];
  const { uid = '', name = '' } = metadata ?? {};
  const errors = uid === '' ? [fieldError.required(path('metadata', 'uid'))] : [];
  const generated = { [uidLabel]: uid, [nameLabel]: name };
  const labels = spec.template?.metadata?.labels;
  for (const [key, value] of Object.entries(generated)) {
    const fieldPath = path('spec', 'template', 'metadata', 'labels').key(key);
    const message = `must be '${value}'`;
    if (labels?.[key] === undefined) errors.push(fieldError.required(fieldPath, message));
    else if (labels[key] !== value)
      errors.push(fieldError.invalid(fieldPath, stringMap(labels), message));
  }
  if (!matches(spec.selector, generated)) {
    errors.push(
      fieldError.invalid(path('spec', 'selector'), spec.selector, '`selector` not auto-generated'),
    );
  }
  return errors;
}

function validateJobUpdate(object: Job, old: Job): FieldError[] {
  const fields = ['completions', 'selector', 'template', 'completionMode'] as const;
  return [
    ...validateJob(object),
    ...fields.flatMap((name) =>
      semanticallyEqual(object.spec?.[name], old.spec?.[name])
        ? []
        : [immutable(path('spec', name), object.spec?.[name])],
    ),
  ];
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
    description: 'Successful pods out of the required number.',
    cell: completionsCell,
  },
  {
    name: 'Duration',
    type: 'string',
    description: 'Run time of the job.',
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
  versions: [{ group: 'batch', version: 'v1', setDefaults: setJobDefaults }],
  stored: { group: 'batch', version: 'v1' },
  defaultPropagation: 'orphan',

  gatedFields: gatedJobFields,
  prepareForCreate(object) {
    object.status = {};
  },
  prepareNamed: identifyPods,
  // Generated labels are validated in the template only.
  prepareForStorage: labelAsTemplate,
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: (object) => [...validateGeneratedSelector(object), ...validateJob(object)],
  validateUpdate: validateJobUpdate,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'update'],

  columns,
  selectableFields: { 'status.successful': (object) => String(object.status?.succeeded ?? 0) },
  status: {
    validateUpdate: ({ status }) =>
      (['active', 'succeeded', 'failed'] as const).flatMap((name) =>
        checkNotNegative(status?.[name], path('status', name)),
      ),
  },
});

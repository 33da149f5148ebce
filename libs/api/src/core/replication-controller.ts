/** ReplicationController: a number of pods of one template; a replica set with a plainer selector. */
import { type FieldError, fieldError, path, semanticallyEqual } from '@orch/apimachinery';
import type { ReplicationController, ReplicationControllerSpec } from '@orch/types/core/v1';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, mapCell, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative } from '../shared/rules.js';
import {
  labelAsTemplate,
  replicaColumns,
  replicaScale,
  validateReplicaCounts,
} from '../shared/workloads.js';
import { gatedTemplateFields } from './pod-gated-fields.js';
import {
  labelsMismatch,
  setPodTemplateDefaults,
  templateColumns,
  validateEndlessPods,
  validatePodTemplate,
  validateSharedDisks,
} from './pod-template.js';

function isEmpty(map: Readonly<Record<string, string>> | undefined): boolean {
  return Object.keys(map ?? {}).length === 0;
}

function setControllerDefaults(object: ReplicationController): void {
  const { spec } = object;
  if (!spec) return;
  const labels = spec.template?.metadata?.labels;
  if (isEmpty(spec.selector) && !isEmpty(labels)) spec.selector = { ...labels };
  labelAsTemplate(object);
  setPodTemplateDefaults(spec.template);
}

function validateController(object: ReplicationController): FieldError[] {
  const spec: ReplicationControllerSpec = object.spec ?? {};
  const at = path('spec');
  const errors = checkNotNegative(spec.minReadySeconds, at.child('minReadySeconds'));
  if (isEmpty(spec.selector)) errors.push(fieldError.required(at.child('selector')));
  errors.push(...checkNotNegative(spec.replicas, at.child('replicas')));
  return [...errors, ...validateTemplate(spec)];
}

function validateTemplate({
  template,
  selector,
  replicas = 1,
}: ReplicationControllerSpec): FieldError[] {
  const at = path('spec', 'template');
  if (!template) return [fieldError.required(at)];
  const errors: FieldError[] = [];
  const labels = template.metadata?.labels;
  if (!Object.entries(selector ?? {}).every(([key, value]) => labels?.[key] === value)) {
    errors.push(labelsMismatch(labels, at));
  }
  errors.push(...validatePodTemplate(template, at));
  const specAt = at.child('spec');
  if (replicas > 1) errors.push(...validateSharedDisks(template.spec, specAt));
  return [...errors, ...validateEndlessPods(template.spec, 'ReplicationController', specAt)];
}

const columns: readonly TableColumn<ReplicationController>[] = [
  nameColumn(),
  ...replicaColumns<ReplicationController>(),
  ageColumn(),
  ...templateColumns<ReplicationController>((object) => object.spec?.template),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Labels by which it finds its pods.',
    cell: (object) => mapCell(object.spec?.selector),
  },
];

export const replicationController = define<ReplicationController>({
  plural: 'replicationcontrollers',
  singular: '',
  kind: 'ReplicationController',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  versions: [
    { group: 'core', version: 'v1', setDefaults: (object) => setControllerDefaults(object) },
  ],
  stored: { group: 'core', version: 'v1' },
  hasGeneration: true,
  defaultPropagation: 'orphan',

  gatedFields: gatedTemplateFields,
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validateController,
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate: validateController,

  columns,
  selectableFields: { 'status.replicas': (object) => String(object.status?.replicas ?? 0) },
  status: {
    validateUpdate: validateReplicaCounts,
  },
  scale: replicaScale((object) => mapCell(object.spec?.selector), {
    group: 'autoscaling',
    resource: 'replicationcontrollers/scale',
  }),
});

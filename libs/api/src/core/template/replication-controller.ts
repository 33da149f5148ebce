/**
 * ReplicationController: a number of pods from one template; a replica set with an equality
 * selector.
 */
import { type FieldError, fieldError, path, semanticallyEqual } from '@orch/apimachinery';
import type { ReplicationController, ReplicationControllerSpec } from '@orch/types/core/v1';
import { define, type TableColumn } from '../../definition.js';
import { ageColumn, mapCell, nameColumn } from '../../shared/columns.js';
import { countGeneration } from '../../shared/generation.js';
import { checkNotNegative } from '../../shared/rules.js';
import {
  labelAsTemplate,
  replicaColumns,
  replicaScale,
  validateReplicaCounts,
} from '../../shared/workloads.js';
import { gatedTemplateFields } from '../pod/pod-gated-fields.js';
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
  const fieldPath = path('spec');
  const errors = checkNotNegative(spec.minReadySeconds, fieldPath.child('minReadySeconds'));
  if (isEmpty(spec.selector)) errors.push(fieldError.required(fieldPath.child('selector')));
  errors.push(...checkNotNegative(spec.replicas, fieldPath.child('replicas')));
  return [...errors, ...validateTemplate(spec)];
}

function validateTemplate({
  template,
  selector,
  replicas = 1,
}: ReplicationControllerSpec): FieldError[] {
  const fieldPath = path('spec', 'template');
  if (!template) return [fieldError.required(fieldPath)];
  const errors: FieldError[] = [];
  const labels = template.metadata?.labels;
  if (!Object.entries(selector ?? {}).every(([key, value]) => labels?.[key] === value)) {
    errors.push(labelsMismatch(labels, fieldPath));
  }
  errors.push(...validatePodTemplate(template, fieldPath));
  const specAt = fieldPath.child('spec');
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
    description: 'Label selector of the pods.',
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
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'object'],

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

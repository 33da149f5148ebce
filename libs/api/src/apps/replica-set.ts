/** ReplicaSet: a number of pods from one template. */
import { type FieldError, path, semanticallyEqual } from '@orch/apimachinery';
import type { ReplicaSet, ReplicaSetSpec } from '@orch/types/apps/v1';
import { gatedTemplateFields } from '../core/pod/pod-gated-fields.js';
import {
  selectorColumn,
  selectorText,
  setPodTemplateDefaults,
  templateColumns,
  validateSelectedTemplate,
} from '../core/template/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative } from '../shared/rules.js';
import {
  replicaColumns,
  replicaScale,
  validateReplicaCounts,
  validateSelectorUpdate,
} from '../shared/workloads.js';

function validateReplicaSet(object: ReplicaSet): FieldError[] {
  const spec: Partial<ReplicaSetSpec> = object.spec ?? {};
  const fieldPath = path('spec');
  return [
    ...checkNotNegative(spec.replicas, fieldPath.child('replicas')),
    ...checkNotNegative(spec.minReadySeconds, fieldPath.child('minReadySeconds')),
    ...validateSelectedTemplate(
      spec.selector,
      spec.template,
      'deployment',
      spec.replicas ?? 1,
      fieldPath,
    ),
  ];
}

const columns: readonly TableColumn<ReplicaSet>[] = [
  nameColumn(),
  ...replicaColumns<ReplicaSet>(),
  ageColumn(),
  ...templateColumns<ReplicaSet>((object) => object.spec?.template),
  selectorColumn((object) => object.spec?.selector),
];

export const replicaSet = define<ReplicaSet>({
  plural: 'replicasets',
  singular: '',
  kind: 'ReplicaSet',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  versions: [
    {
      group: 'apps',
      version: 'v1',
      setDefaults: (object: ReplicaSet) => setPodTemplateDefaults(object.spec?.template),
    },
  ],
  stored: { group: 'apps', version: 'v1' },
  hasGeneration: true,

  gatedFields: gatedTemplateFields,
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validateReplicaSet,
  validateUpdate: (object, old) =>
    validateSelectorUpdate(object.spec?.selector, old.spec?.selector, path('spec', 'selector')),
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'object', 'update'],

  columns,
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
    validateUpdate: validateReplicaCounts,
  },
  scale: replicaScale((object) => selectorText(object.spec?.selector)),
});

/** StatefulSet: pods from one template with stable names and storage. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  semanticallyEqual,
  validateAnnotations,
  validateLabels,
} from '@orch/apimachinery';
import type { StatefulSet, StatefulSetSpec } from '@orch/types/apps/v1';
import type { PodTemplateSpec } from '@orch/types/core/v1';
import { validatePodAnnotations } from '../core/pod/pod-annotations.js';
import { gatedTemplateFields } from '../core/pod/pod-gated-fields.js';
import {
  emptyPodSpec,
  isBrokenSelector,
  selectorText,
  setPodTemplateDefaults,
  templateColumns,
  validateEndlessPods,
  validateSelector,
  validateTemplateLabels,
} from '../core/template/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative } from '../shared/rules.js';
import {
  readyColumn,
  replicaScale,
  validateCollisionCount,
  validateCounts,
} from '../shared/workloads.js';

const policies = ['OrderedReady', 'Parallel'];

function setStatefulSetDefaults({ spec }: StatefulSet): void {
  if (!spec) return;
  spec.updateStrategy ??= {};
  const strategy = spec.updateStrategy;
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) {
    strategy.rollingUpdate.partition ??= 0;
  }
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion = 'v1';
    claim.kind = 'PersistentVolumeClaim';
  }
  setPodTemplateDefaults(spec.template);
}

function validateStatefulSet(object: StatefulSet): FieldError[] {
  const spec: Partial<StatefulSetSpec> = object.spec ?? {};
  const fieldPath = path('spec');
  const errors: FieldError[] = [];
  if (spec.podManagementPolicy && !policies.includes(spec.podManagementPolicy)) {
    const field = fieldPath.child('podManagementPolicy');
    const message = "must be 'OrderedReady' or 'Parallel'";
    errors.push(fieldError.invalid(field, spec.podManagementPolicy, message));
  }
  const templateAt = fieldPath.child('template');
  errors.push(
    ...validateStrategy(spec, fieldPath.child('updateStrategy')),
    ...checkNotNegative(spec.replicas, fieldPath.child('replicas')),
    ...validateSelector(spec.selector, 'statefulset', fieldPath.child('selector'), ''),
  );
  if (!isBrokenSelector(spec.selector)) {
    errors.push(
      ...validateTemplateLabels(spec.selector, spec.template, templateAt),
      ...validateTemplateMetadata(spec.template, templateAt),
    );
  }
  const pods = spec.template?.spec;
  return [...errors, ...validateEndlessPods(pods, 'StatefulSet', templateAt.child('spec'))];
}

/** Only the metadata is validated here; pod creation validates the rest of the template. */
function validateTemplateMetadata(
  template: PodTemplateSpec | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const { labels, annotations } = template?.metadata ?? {};
  const field = fieldPath.child('annotations');
  return [
    ...validateLabels(labels, fieldPath.child('labels')),
    ...validateAnnotations(annotations, field),
    ...validatePodAnnotations(annotations, template?.spec ?? emptyPodSpec, field),
  ];
}

function validateStrategy(spec: Partial<StatefulSetSpec>, fieldPath: FieldPath): FieldError[] {
  const strategy = spec.updateStrategy;
  const rolling = strategy?.rollingUpdate;
  const field = fieldPath.child('rollingUpdate');
  switch (strategy?.type ?? 'RollingUpdate') {
    case 'OnDelete':
      return rolling
        ? [fieldError.invalid(field, true, "only allowed for updateStrategy 'RollingUpdate'")]
        : [];
    case 'RollingUpdate':
      return checkNotNegative(rolling?.partition, field.child('partition'));
    default:
      return [fieldError.invalid(fieldPath, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

/** Only three fields of the spec are mutable. */
function validateStatefulSetUpdate(object: StatefulSet, old: StatefulSet): FieldError[] {
  const fixed = ({ spec }: StatefulSet) => ({
    ...spec,
    replicas: undefined,
    template: undefined,
    updateStrategy: undefined,
  });
  const fieldPath = path('spec');
  const errors = semanticallyEqual(fixed(object), fixed(old))
    ? []
    : [
        fieldError.forbidden(
          fieldPath,
          "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden",
        ),
      ];
  return [...errors, ...checkNotNegative(object.spec?.replicas, fieldPath.child('replicas'))];
}

const columns: readonly TableColumn<StatefulSet>[] = [
  nameColumn(),
  readyColumn(),
  ageColumn(),
  ...templateColumns<StatefulSet>((object) => object.spec?.template),
];

export const statefulSet = define<StatefulSet>({
  plural: 'statefulsets',
  singular: '',
  kind: 'StatefulSet',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  versions: [
    { group: 'apps', version: 'v1', setDefaults: (object) => setStatefulSetDefaults(object) },
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
  validate: validateStatefulSet,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'update'],
  validateUpdate: validateStatefulSetUpdate,

  columns,
  status: {
    validateUpdate: (object, old) => [
      ...validateCounts(
        object.status ?? {},
        [
          'replicas',
          'readyReplicas',
          'currentReplicas',
          'updatedReplicas',
          'observedGeneration',
          'collisionCount',
        ],
        ['readyReplicas', 'currentReplicas', 'updatedReplicas'],
        path('status'),
      ),
      ...validateCollisionCount(object.status, old.status),
    ],
  },
  scale: replicaScale((object) => selectorText(object.spec?.selector), {
    group: 'apps',
    resource: 'statefulsets',
  }),
});

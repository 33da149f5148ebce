/** Deployment: replicas of a template, with rolling updates. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  type IntOrString,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { Deployment, DeploymentSpec } from '@orch/types/apps/v1';
import { gatedTemplateFields } from '../core/pod/pod-gated-fields.js';
import {
  selectorColumn,
  selectorText,
  setPodTemplateDefaults,
  templateColumns,
  validateSelectedTemplate,
} from '../core/template/pod-template.js';
import { define, type TableColumn } from '../definition.js';
import { isNoAmount, validateAmount, validateAtMostAll } from '../shared/amounts.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative } from '../shared/rules.js';
import {
  readyColumn,
  replicaScale,
  validateCollisionCount,
  validateCounts,
  validateSelectorUpdate,
} from '../shared/workloads.js';

const rollingShare = '25%';

function setDeploymentDefaults(object: Deployment): void {
  const { spec } = object;
  if (!spec) return;
  spec.strategy ??= { type: 'RollingUpdate' };
  spec.strategy.type ||= 'RollingUpdate';
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate = {
      ...spec.strategy.rollingUpdate,
      maxUnavailable: spec.strategy.rollingUpdate?.maxUnavailable ?? rollingShare,
      maxSurge: spec.strategy.rollingUpdate?.maxSurge ?? rollingShare,
    };
  }
  setPodTemplateDefaults(spec.template);
}

function validateDeployment(object: Deployment): FieldError[] {
  const spec: Partial<DeploymentSpec> = object.spec ?? {};
  const fieldPath = path('spec');
  const errors = [
    ...checkNotNegative(spec.replicas, fieldPath.child('replicas')),
    ...validateSelectedTemplate(
      spec.selector,
      spec.template,
      'deployment',
      spec.replicas ?? 1,
      fieldPath,
    ),
    ...validateStrategy(spec, fieldPath.child('strategy')),
    ...checkNotNegative(spec.minReadySeconds, fieldPath.child('minReadySeconds')),
    ...checkNotNegative(spec.revisionHistoryLimit, fieldPath.child('revisionHistoryLimit')),
  ];
  const deadline = spec.progressDeadlineSeconds;
  if (deadline !== undefined) {
    const field = fieldPath.child('progressDeadlineSeconds');
    errors.push(...checkNotNegative(deadline, field));
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(fieldError.invalid(field, deadline, 'must be greater than minReadySeconds'));
    }
  }
  return errors;
}

function validateStrategy(spec: Partial<DeploymentSpec>, fieldPath: FieldPath): FieldError[] {
  const { strategy } = spec;
  if (!strategy) return [];
  const field = fieldPath.child('rollingUpdate');
  const rolling = strategy.rollingUpdate;
  switch (strategy.type) {
    case 'Recreate':
      return rolling
        ? [fieldError.forbidden(field, "may not be specified when strategy `type` is 'Recreate'")]
        : [];
    case 'RollingUpdate':
      if (!rolling) {
        return [fieldError.required(field, 'this should be defaulted and never be nil')];
      }
      return validateRolling(rolling.maxUnavailable ?? 0, rolling.maxSurge ?? 0, field);
    default:
      return [fieldError.notSupported(fieldPath, strategy, ['Recreate', 'RollingUpdate'])];
  }
}

function validateRolling(
  maxUnavailable: IntOrString,
  maxSurge: IntOrString,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = [
    ...validateAmount(maxUnavailable, fieldPath.child('maxUnavailable')),
    ...validateAmount(maxSurge, fieldPath.child('maxSurge')),
  ];
  if (isNoAmount(maxUnavailable) && isNoAmount(maxSurge)) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('maxUnavailable'),
        maxUnavailable,
        'may not be 0 when `maxSurge` is 0',
      ),
    );
  }
  return [...errors, ...validateAtMostAll(maxUnavailable, fieldPath.child('maxUnavailable'))];
}

const columns: readonly TableColumn<Deployment>[] = [
  nameColumn(),
  readyColumn(),
  {
    name: 'Up-to-date',
    type: 'string',
    description: 'Number of pods of the newest template.',
    cell: (object) => object.status?.updatedReplicas ?? 0,
  },
  {
    name: 'Available',
    type: 'string',
    description: 'Number of available pods.',
    cell: (object) => object.status?.availableReplicas ?? 0,
  },
  ageColumn(),
  ...templateColumns<Deployment>((object) => object.spec?.template),
  selectorColumn((object) => object.spec?.selector),
];

export const deployment = define<Deployment>({
  plural: 'deployments',
  singular: '',
  kind: 'Deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  versions: [
    { group: 'apps', version: 'v1', setDefaults: (object) => setDeploymentDefaults(object) },
  ],
  stored: { group: 'apps', version: 'v1' },
  hasGeneration: true,

  gatedFields: gatedTemplateFields,
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    // The controller copies annotations to its replica sets, so they count for the generation.
    if (
      !semanticallyEqual(object.spec, old.spec) ||
      !semanticallyEqual(object.metadata?.annotations ?? {}, old.metadata?.annotations ?? {})
    ) {
      countGeneration(object);
    }
  },
  validate: validateDeployment,
  updateChecks: ['metadataUpdate', 'object', 'update'],
  validateUpdate: (object, old) =>
    validateSelectorUpdate(object.spec?.selector, old.spec?.selector, path('spec', 'selector')),

  columns,
  status: {
    resetFields: ['spec', 'metadata.labels'],
    prepareForUpdate(object, old) {
      object.spec = old.spec;
      if (object.metadata) object.metadata.labels = old.metadata?.labels;
    },
    validateUpdate(object, old) {
      const status = object.status ?? {};
      const fieldPath = path('status');
      const errors = validateCounts(
        status,
        [
          'observedGeneration',
          'replicas',
          'updatedReplicas',
          'readyReplicas',
          'availableReplicas',
          'unavailableReplicas',
          'collisionCount',
        ],
        ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
        fieldPath,
      );
      return [...errors, ...validateCollisionCount(object.status, old.status)];
    },
  },
  scale: replicaScale((object) => selectorText(object.spec?.selector)),
});

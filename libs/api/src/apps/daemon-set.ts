/** DaemonSet: one pod of a template on every matching node. */
import {
  badRequest,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  quote,
  semanticallyEqual,
  validateLabelSelector,
} from '@orch/apimachinery';
import type { DaemonSet, DaemonSetSpec } from '@orch/types/apps/v1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { gatedTemplateFields } from '../core/pod/pod-gated-fields.js';
import {
  isBrokenSelector,
  isEmptySelector,
  labelsMismatch,
  selectorColumn,
  setPodTemplateDefaults,
  templateColumns,
  validateEndlessPods,
  validatePodTemplate,
  validateSharedDisks,
} from '../core/template/pod-template.js';
import { type ApiObject, define, type StrategyContext, type TableColumn } from '../definition.js';
import { isNoAmount, validateAmount, validateAtMostAll } from '../shared/amounts.js';
import { ageColumn, mapCell, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative, selectorMatches } from '../shared/rules.js';
import {
  validateCollisionCount,
  validateCounts,
  validateSelectorUpdate,
} from '../shared/workloads.js';

/** The annotation that shows clients how often the template has changed, counted from one. */
const templateGenerationKey = 'deprecated.daemonset.template.generation';

/**
 * The stored shape: the template generation is a field, and so not part of any view of the
 * metadata.
 */
interface StoredDaemonSet extends DaemonSet {
  templateGeneration?: number;
}

/** Throws 400 if the generation is not a whole number. */
function toStored(object: ApiObject): StoredDaemonSet {
  const { [templateGenerationKey]: text, ...annotations } = object.metadata?.annotations ?? {};
  if (text === undefined) return object;
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(
      `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${quote(text)}: invalid syntax`,
    );
  }
  return {
    ...object,
    metadata: withAnnotations(object.metadata, annotations),
    templateGeneration: Number(text),
  };
}

function fromStored({ templateGeneration = 0, ...object }: StoredDaemonSet): DaemonSet {
  const annotations = {
    ...object.metadata?.annotations,
    [templateGenerationKey]: String(templateGeneration),
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withAnnotations(
  { annotations: _before, ...metadata }: ObjectMeta = {},
  annotations: Record<string, string>,
): ObjectMeta {
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
}

function setDaemonSetDefaults(object: DaemonSet): void {
  const { spec } = object;
  if (!spec) return;
  spec.updateStrategy ??= { type: 'RollingUpdate' };
  const strategy = spec.updateStrategy;
  if (strategy.type === 'RollingUpdate') {
    const maxUnavailable = strategy.rollingUpdate?.maxUnavailable ?? 1;
    const maxSurge = strategy.rollingUpdate?.maxSurge ?? 0;
    strategy.rollingUpdate = { maxUnavailable, maxSurge };
  }
  setPodTemplateDefaults(spec.template);
}

function validateDaemonSet(object: DaemonSet, { features }: StrategyContext): FieldError[] {
  const spec: Partial<DaemonSetSpec> = object.spec ?? {};
  const { selector, template } = spec;
  const fieldPath = path('spec');
  const templateAt = fieldPath.child('template');
  const errors = validateLabelSelector(selector, fieldPath.child('selector'));
  const labels = template?.metadata?.labels;
  const isEmpty = isEmptySelector(selector);
  if (!isEmpty && !isBrokenSelector(selector) && !selectorMatches(selector, labels)) {
    errors.push(labelsMismatch(labels, templateAt));
  }
  if (isEmpty) {
    const message = 'empty selector is invalid for daemonset';
    errors.push(fieldError.invalid(fieldPath.child('selector'), selector, message));
  }
  return [
    ...errors,
    ...validatePodTemplate(template, templateAt),
    ...validateSharedDisks(template?.spec, templateAt.child('spec')),
    ...validateEndlessPods(template?.spec, 'DaemonSet', templateAt.child('spec')),
    ...checkNotNegative(spec.minReadySeconds, fieldPath.child('minReadySeconds')),
    ...validateStrategy(
      spec,
      fieldPath.child('updateStrategy'),
      features.enabled('DaemonSetUpdateSurge'),
    ),
    ...checkNotNegative(spec.revisionHistoryLimit, fieldPath.child('revisionHistoryLimit')),
  ];
}

function validateStrategy(
  spec: Partial<DaemonSetSpec>,
  fieldPath: FieldPath,
  isSurgeEnabled: boolean,
): FieldError[] {
  const strategy = spec.updateStrategy;
  switch (strategy?.type ?? 'RollingUpdate') {
    case 'OnDelete':
      return [];
    case 'RollingUpdate':
      return isSurgeEnabled
        ? validateRolling(strategy, fieldPath.child('rollingUpdate'))
        : validateUnavailable(strategy, fieldPath.child('rollingUpdate', 'maxUnavailable'));
    default:
      return [fieldError.notSupported(fieldPath, strategy, ['RollingUpdate', 'OnDelete'])];
  }
}

function validateUnavailable(
  strategy: DaemonSetSpec['updateStrategy'],
  fieldPath: FieldPath,
): FieldError[] {
  const value = strategy?.rollingUpdate?.maxUnavailable ?? 1;
  const errors = validateAmount(value, fieldPath);
  if (isNoAmount(value)) errors.push(fieldError.invalid(fieldPath, value, 'cannot be 0'));
  return [...errors, ...validateAtMostAll(value, fieldPath)];
}

/** Exactly one of the bounds is not 0. */
function validateRolling(
  strategy: DaemonSetSpec['updateStrategy'],
  fieldPath: FieldPath,
): FieldError[] {
  const { maxUnavailable = 1, maxSurge = 0 } = strategy?.rollingUpdate ?? {};
  const unavailableAt = fieldPath.child('maxUnavailable');
  const surgeAt = fieldPath.child('maxSurge');
  const errors = [
    ...validateAmount(maxUnavailable, unavailableAt),
    ...validateAmount(maxSurge, surgeAt),
    ...validateAtMostAll(maxUnavailable, unavailableAt),
    ...validateAtMostAll(maxSurge, surgeAt),
  ];
  const hasSurge = !isNoAmount(maxSurge);
  if (isNoAmount(maxUnavailable) && !hasSurge) {
    errors.push(fieldError.required(unavailableAt, 'cannot be 0 when maxSurge is 0'));
  } else if (!isNoAmount(maxUnavailable) && hasSurge) {
    const message = 'may not be set when maxUnavailable is non-zero';
    errors.push(fieldError.invalid(surgeAt, maxSurge, message));
  }
  return errors;
}

const count = (
  name: string,
  description: string,
  cell: TableColumn<DaemonSet>['cell'],
): TableColumn<DaemonSet> => ({ name, type: 'integer', description, cell });

const columns: readonly TableColumn<DaemonSet>[] = [
  nameColumn(),
  count('Desired', 'Number of nodes that should have a pod.', ({ status }) =>
    status ? status.desiredNumberScheduled : 0,
  ),
  count('Current', 'Nodes that are to have a pod and have one.', ({ status }) =>
    status ? status.currentNumberScheduled : 0,
  ),
  count('Ready', 'Nodes whose pod is ready.', ({ status }) => (status ? status.numberReady : 0)),
  count(
    'Up-to-date',
    'Nodes whose pod is of the newest template.',
    ({ status }) => status?.updatedNumberScheduled ?? 0,
  ),
  count(
    'Available',
    'Nodes whose pod has been ready for long enough.',
    ({ status }) => status?.numberAvailable ?? 0,
  ),
  {
    name: 'Node Selector',
    type: 'string',
    description: 'Node selector of the template.',
    cell: (object) => mapCell(object.spec?.template?.spec?.nodeSelector),
  },
  ageColumn(),
  ...templateColumns<DaemonSet>((object) => object.spec?.template),
  selectorColumn((object) => object.spec?.selector),
];

export const daemonSet = define<StoredDaemonSet>({
  plural: 'daemonsets',
  singular: '',
  kind: 'DaemonSet',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  versions: [
    {
      group: 'apps',
      version: 'v1',
      setDefaults: (object) => setDaemonSetDefaults(object),
      toStored,
      fromStored,
    },
  ],
  stored: { group: 'apps', version: 'v1' },
  hasGeneration: true,

  gatedFields: [
    ...gatedTemplateFields,
    {
      gate: 'DaemonSetUpdateSurge',
      path: 'spec.updateStrategy.rollingUpdate.maxSurge',
      off: () => 0,
    },
  ],
  prepareForCreate(object) {
    object.status = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    };
    object.templateGeneration = Math.max(1, object.templateGeneration ?? 0);
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    const changed = !semanticallyEqual(object.spec?.template, old.spec?.template);
    object.templateGeneration = (old.templateGeneration ?? 0) + (changed ? 1 : 0);
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validateDaemonSet,
  validateUpdate: (object, old) =>
    validateSelectorUpdate(object.spec?.selector, old.spec?.selector, path('spec', 'selector')),
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'object', 'update'],

  columns,
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
      object.templateGeneration = old.templateGeneration;
    },
    validateUpdate: (object, old) => [
      ...validateCounts(
        object.status ?? {},
        [
          'currentNumberScheduled',
          'numberMisscheduled',
          'desiredNumberScheduled',
          'numberReady',
          'observedGeneration',
          'updatedNumberScheduled',
          'numberAvailable',
          'numberUnavailable',
          'collisionCount',
        ],
        [],
        path('status'),
      ),
      ...validateCollisionCount(object.status, old.status),
    ],
  },
});

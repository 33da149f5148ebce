/** DaemonSet: a pod of one template on every node that fits. */
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
import { gatedTemplateFields } from '../core/pod-gated-fields.js';
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
} from '../core/pod-template.js';
import { type ApiObject, define, type TableColumn } from '../definition.js';
import { isNoAmount, validateAmount, validateAtMostAll } from '../shared/amounts.js';
import { ageColumn, mapCell, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative, selectorMatches } from '../shared/rules.js';
import {
  validateCollisionCount,
  validateCounts,
  validateSelectorUpdate,
} from '../shared/workloads.js';

/** Clients see how often the template has changed, counted from one, in this annotation. */
const templateGenerationKey = 'deprecated.daemonset.template.generation';

/** As stored. The count is no part of the metadata there, and so of no view of the metadata. */
interface StoredDaemonSet extends DaemonSet {
  templateGeneration?: number;
}

/** Throws 400 for a count that is no whole number. */
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
    // Pods above the count belong to a feature that is off.
    strategy.rollingUpdate = { maxUnavailable, maxSurge: 0 };
  }
  setPodTemplateDefaults(spec.template);
}

function validateDaemonSet(object: DaemonSet): FieldError[] {
  const spec: Partial<DaemonSetSpec> = object.spec ?? {};
  const { selector, template } = spec;
  const at = path('spec');
  const templateAt = at.child('template');
  const errors = validateLabelSelector(selector, at.child('selector'));
  const labels = template?.metadata?.labels;
  const isEmpty = isEmptySelector(selector);
  if (!isEmpty && !isBrokenSelector(selector) && !selectorMatches(selector, labels)) {
    errors.push(labelsMismatch(labels, templateAt));
  }
  if (isEmpty) {
    const message = 'empty selector is invalid for daemonset';
    errors.push(fieldError.invalid(at.child('selector'), selector, message));
  }
  return [
    ...errors,
    ...validatePodTemplate(template, templateAt),
    ...validateSharedDisks(template?.spec, templateAt.child('spec')),
    ...validateEndlessPods(template?.spec, 'DaemonSet', templateAt.child('spec')),
    ...checkNotNegative(spec.minReadySeconds, at.child('minReadySeconds')),
    ...validateStrategy(spec, at.child('updateStrategy')),
    ...checkNotNegative(spec.revisionHistoryLimit, at.child('revisionHistoryLimit')),
  ];
}

function validateStrategy(spec: Partial<DaemonSetSpec>, at: FieldPath): FieldError[] {
  const strategy = spec.updateStrategy;
  switch (strategy?.type ?? 'RollingUpdate') {
    case 'OnDelete':
      return [];
    case 'RollingUpdate':
      return validateUnavailable(strategy, at.child('rollingUpdate', 'maxUnavailable'));
    default:
      return [fieldError.notSupported(at, strategy, ['RollingUpdate', 'OnDelete'])];
  }
}

function validateUnavailable(
  strategy: DaemonSetSpec['updateStrategy'],
  at: FieldPath,
): FieldError[] {
  const value = strategy?.rollingUpdate?.maxUnavailable ?? 1;
  const errors = validateAmount(value, at);
  if (isNoAmount(value)) errors.push(fieldError.invalid(at, value, 'cannot be 0'));
  return [...errors, ...validateAtMostAll(value, at)];
}

const count = (
  name: string,
  description: string,
  cell: TableColumn<DaemonSet>['cell'],
): TableColumn<DaemonSet> => ({ name, type: 'integer', description, cell });

const columns: readonly TableColumn<DaemonSet>[] = [
  nameColumn(),
  count('Desired', 'Nodes that are to have a pod.', ({ status }) =>
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
    description: 'Labels of the nodes that are to have a pod.',
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

  gatedFields: gatedTemplateFields,
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
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate: (object, old) => [
    ...validateDaemonSet(object),
    ...validateSelectorUpdate(object.spec?.selector, old.spec?.selector, path('spec', 'selector')),
  ],

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

/** PodDisruptionBudget: how many pods of a selection may be missing because somebody wanted it so. */
import {
  type FieldError,
  fieldError,
  path,
  pathSegmentName,
  semanticallyEqual,
  validateLabelSelector,
} from '@orch/apimachinery';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '@orch/types/policy/v1';
import { define, type RequestContext, type TableColumn } from '../definition.js';
import { validateAmount, validateAtMostAll } from '../shared/amounts.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { validateConditions } from '../shared/conditions.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative } from '../shared/rules.js';
import { betaBudgetFromStored, betaBudgetToStored } from './budget-selector.js';

const noStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

function validateBudget(object: PodDisruptionBudget): FieldError[] {
  const spec: PodDisruptionBudgetSpec = object.spec ?? {};
  const at = path('spec');
  const errors: FieldError[] = [];
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    const message = 'minAvailable and maxUnavailable cannot be both set';
    errors.push(fieldError.invalid(at, spec, message));
  }
  for (const name of ['minAvailable', 'maxUnavailable'] as const) {
    const amount = spec[name];
    if (amount === undefined) continue;
    const field = at.child(name);
    errors.push(...validateAmount(amount, field), ...validateAtMostAll(amount, field));
  }
  return [...errors, ...validateLabelSelector(spec.selector, at.child('selector'))];
}

function validateStatus(
  { status }: PodDisruptionBudget,
  _old: PodDisruptionBudget,
  { requestVersion }: RequestContext,
): FieldError[] {
  const at = path('status');
  const errors = validateConditions(status?.conditions, at.child('conditions'));
  // Clients of the older version were never held to the rest.
  if (requestVersion?.version === 'v1beta1') return errors;
  for (const name of Object.keys(noStatus) as (keyof typeof noStatus)[]) {
    errors.push(...checkNotNegative(status?.[name], at.child(name)));
  }
  return errors;
}

const columns: readonly TableColumn<PodDisruptionBudget>[] = [
  nameColumn(),
  {
    name: 'Min Available',
    type: 'string',
    description: 'Pods that have to stay, as a number or a percentage.',
    cell: (object) => String(object.spec?.minAvailable ?? 'N/A'),
  },
  {
    name: 'Max Unavailable',
    type: 'string',
    description: 'Pods that may be missing, as a number or a percentage.',
    cell: (object) => String(object.spec?.maxUnavailable ?? 'N/A'),
  },
  {
    name: 'Allowed Disruptions',
    type: 'integer',
    description: 'Pods that may go now.',
    cell: (object) => object.status?.disruptionsAllowed ?? 0,
  },
  ageColumn(),
];

export const podDisruptionBudget = define<PodDisruptionBudget>({
  plural: 'poddisruptionbudgets',
  singular: '',
  kind: 'PodDisruptionBudget',
  shortNames: ['pdb'],
  namespaced: true,
  versions: [
    { group: 'policy', version: 'v1' },
    {
      group: 'policy',
      version: 'v1beta1',
      toStored: betaBudgetToStored,
      fromStored: betaBudgetFromStored,
      deprecation: {
        since: '1.21',
        unavailableFrom: '1.25',
        use: { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
      },
    },
  ],
  stored: { group: 'policy', version: 'v1' },
  validateName: pathSegmentName,
  strictFinalizers: false,
  hasGeneration: true,
  unconditionalUpdate: false,

  prepareForCreate(object) {
    object.status = { ...noStatus };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validateBudget,

  columns,
  status: { validateUpdate: validateStatus },
});

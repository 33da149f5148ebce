/** PodDisruptionBudget: how many pods of a set may be down due to voluntary disruptions. */

import {
  type FieldError,
  fieldError,
  path,
  semanticallyEqual,
  validateLabelSelector,
} from '@orch/apimachinery';
import { knownKeys } from '@orch/component';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '@orch/types/policy/v1';
import { define, type StrategyContext, type TableColumn } from '../definition.js';
import { validateAmount, validateAtMostAll } from '../shared/amounts.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { validateConditions } from '../shared/conditions.js';
import { countGeneration } from '../shared/generation.js';
import { checkNotNegative } from '../shared/rules.js';
import { betaBudgetFromStored, betaBudgetToStored } from './budget-selector.js';

const noStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

function validateBudget(object: PodDisruptionBudget): FieldError[] {
  const spec: PodDisruptionBudgetSpec = object.spec ?? {};
  const fieldPath = path('spec');
  const errors: FieldError[] = [];
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    const message = 'minAvailable and maxUnavailable cannot be both set';
    errors.push(fieldError.invalid(fieldPath, spec, message));
  }
  for (const name of ['minAvailable', 'maxUnavailable'] as const) {
    const amount = spec[name];
    if (amount === undefined) continue;
    const field = fieldPath.child(name);
    errors.push(...validateAmount(amount, field), ...validateAtMostAll(amount, field));
  }
  return [...errors, ...validateLabelSelector(spec.selector, fieldPath.child('selector'))];
}

function validateStatus(
  { status }: PodDisruptionBudget,
  _old: PodDisruptionBudget,
  { requestVersion }: StrategyContext,
): FieldError[] {
  const fieldPath = path('status');
  const errors = validateConditions(status?.conditions, fieldPath.child('conditions'));
  // The older version never had the remaining rules.
  if (requestVersion?.version === 'v1beta1') return errors;
  for (const name of knownKeys(noStatus)) {
    errors.push(...checkNotNegative(status?.[name], fieldPath.child(name)));
  }
  return errors;
}

const columns: readonly TableColumn<PodDisruptionBudget>[] = [
  nameColumn(),
  {
    name: 'Min Available',
    type: 'string',
    description: 'Minimum number or percentage of available pods.',
    cell: (object) => String(object.spec?.minAvailable ?? 'N/A'),
  },
  {
    name: 'Max Unavailable',
    type: 'string',
    description: 'Maximum number or percentage of unavailable pods.',
    cell: (object) => String(object.spec?.maxUnavailable ?? 'N/A'),
  },
  {
    name: 'Allowed Disruptions',
    type: 'integer',
    description: 'Number of disruptions that are currently allowed.',
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
  createChecks: ['object'],
  updateChecks: ['object'],

  columns,
  status: { validateUpdate: validateStatus },
});

/** HorizontalPodAutoscaler: scales a workload by metrics. */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
} from '@orch/types/autoscaling/v2beta2';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkNotNegative } from '../shared/rules.js';
import {
  betaFromStored,
  betaToStored,
  isCpuUse,
  stableFromStored,
  stableToStored,
} from './autoscaler-conversion.js';
import { validateMetric, validateReference } from './metric-validation.js';
import { metricsCell } from './metrics-cell.js';
import { setBehaviorDefaults, validateBehavior } from './scaling-behavior.js';

/**
 * Moves CPU utilization to the end, as upstream, because `v1` holds it apart from the other
 * metrics.
 */
function prepareMetrics(spec: HorizontalPodAutoscalerSpec | undefined): void {
  if (!spec?.metrics) return;
  const others = spec.metrics.filter((metric) => !isCpuUse(metric));
  spec.metrics = [...others, ...spec.metrics.filter(isCpuUse)];
}

function validateAutoscaler(object: HorizontalPodAutoscaler, leastReplicas: number): FieldError[] {
  const spec: Partial<HorizontalPodAutoscalerSpec> = object.spec ?? {};
  const { minReplicas, maxReplicas = 0, metrics = [] } = spec;
  const fieldPath = path('spec');
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && minReplicas < leastReplicas) {
    const message = `must be greater than or equal to ${leastReplicas}`;
    errors.push(fieldError.invalid(fieldPath.child('minReplicas'), minReplicas, message));
  }
  const maxAt = fieldPath.child('maxReplicas');
  if (maxReplicas < 1) {
    errors.push(fieldError.invalid(maxAt, maxReplicas, 'must be greater than 0'));
  }
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    const message = 'must be greater than or equal to `minReplicas`';
    errors.push(fieldError.invalid(maxAt, maxReplicas, message));
  }
  const metricsAt = fieldPath.child('metrics');
  errors.push(
    ...validateReference(
      spec.scaleTargetRef ?? { kind: '', name: '' },
      fieldPath.child('scaleTargetRef'),
    ),
    ...metrics.flatMap((metric, index) => validateMetric(metric, metricsAt.index(index))),
  );
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    errors.push(
      fieldError.forbidden(
        metricsAt,
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    );
  }
  return [...errors, ...validateBehavior(spec.behavior, fieldPath.child('behavior'))];
}

const columns: readonly TableColumn<HorizontalPodAutoscaler>[] = [
  nameColumn(),
  {
    name: 'Reference',
    type: 'string',
    description: 'Workload that is scaled.',
    cell: ({ spec }) => `${spec?.scaleTargetRef.kind ?? ''}/${spec?.scaleTargetRef.name ?? ''}`,
  },
  {
    name: 'Targets',
    type: 'string',
    description: 'Current and target metrics.',
    cell: ({ spec, status }) => metricsCell(spec?.metrics ?? [], status?.currentMetrics ?? []),
  },
  {
    name: 'MinPods',
    type: 'string',
    description: 'Minimum number of replicas.',
    cell: ({ spec }) => (spec?.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
  },
  {
    name: 'MaxPods',
    type: 'string',
    description: 'Maximum number of replicas.',
    cell: ({ spec }) => spec?.maxReplicas ?? 0,
  },
  {
    name: 'Replicas',
    type: 'string',
    description: 'Observed number of pods.',
    cell: ({ status }) => status?.currentReplicas ?? 0,
  },
  ageColumn(),
];

export const horizontalPodAutoscaler = define<HorizontalPodAutoscaler>({
  plural: 'horizontalpodautoscalers',
  singular: '',
  kind: 'HorizontalPodAutoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  versions: [
    {
      group: 'autoscaling',
      version: 'v1',
      toStored: stableToStored,
      fromStored: stableFromStored,
    },
    {
      group: 'autoscaling',
      version: 'v2beta1',
      toStored: betaToStored,
      fromStored: betaFromStored,
    },
    {
      group: 'autoscaling',
      version: 'v2beta2',
      setDefaults: (object: HorizontalPodAutoscaler) => {
        if (object.spec?.behavior) setBehaviorDefaults(object.spec.behavior);
      },
    },
  ],
  stored: { group: 'autoscaling', version: 'v2beta2' },

  gatedFields: [{ gate: 'HPAContainerMetrics', path: 'spec.metrics[].containerResource' }],
  prepareForCreate(object) {
    object.status = { currentReplicas: 0, desiredReplicas: 0 };
    prepareMetrics(object.spec);
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    prepareMetrics(object.spec);
  },
  validateCreate: (object, { features }) =>
    validateAutoscaler(object, features.enabled('HPAScaleToZero') ? 0 : 1),
  updateChecks: ['metadataUpdate', 'update'],
  // An autoscaler that is already at zero may stay there.
  validateUpdate: (object, old, { features }) => {
    const mayBeZero = features.enabled('HPAScaleToZero') || old.spec?.minReplicas === 0;
    return validateAutoscaler(object, mayBeZero ? 0 : 1);
  },

  columns,
  status: {
    validateUpdate: ({ status }) => [
      ...checkNotNegative(status?.currentReplicas, path('status', 'currentReplicas')),
      ...checkNotNegative(status?.desiredReplicas, path('status', 'desiredReplicas')),
    ],
  },
});

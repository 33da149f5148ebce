/** HorizontalPodAutoscaler: how many replicas something has, by what is measured. */
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

/** The use of CPU comes last, as clients know it, since in `v1` it is not among the other metrics. */
function prepareMetrics(spec: HorizontalPodAutoscalerSpec | undefined): void {
  if (!spec?.metrics) return;
  const others = spec.metrics.filter((metric) => !isCpuUse(metric));
  spec.metrics = [...others, ...spec.metrics.filter(isCpuUse)];
}

function validateAutoscaler(object: HorizontalPodAutoscaler, leastReplicas: number): FieldError[] {
  const spec: Partial<HorizontalPodAutoscalerSpec> = object.spec ?? {};
  const { minReplicas, maxReplicas = 0, metrics = [] } = spec;
  const at = path('spec');
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && minReplicas < leastReplicas) {
    const message = `must be greater than or equal to ${leastReplicas}`;
    errors.push(fieldError.invalid(at.child('minReplicas'), minReplicas, message));
  }
  const maxAt = at.child('maxReplicas');
  if (maxReplicas < 1) {
    errors.push(fieldError.invalid(maxAt, maxReplicas, 'must be greater than 0'));
  }
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    const message = 'must be greater than or equal to `minReplicas`';
    errors.push(fieldError.invalid(maxAt, maxReplicas, message));
  }
  const metricsAt = at.child('metrics');
  errors.push(
    ...validateReference(spec.scaleTargetRef ?? { kind: '', name: '' }, at.child('scaleTargetRef')),
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
  return [...errors, ...validateBehavior(spec.behavior, at.child('behavior'))];
}

const columns: readonly TableColumn<HorizontalPodAutoscaler>[] = [
  nameColumn(),
  {
    name: 'Reference',
    type: 'string',
    description: 'What is scaled.',
    cell: ({ spec }) => `${spec?.scaleTargetRef.kind ?? ''}/${spec?.scaleTargetRef.name ?? ''}`,
  },
  {
    name: 'Targets',
    type: 'string',
    description: 'What is measured, now and as wanted.',
    cell: ({ spec, status }) => metricsCell(spec?.metrics ?? [], status?.currentMetrics ?? []),
  },
  {
    name: 'MinPods',
    type: 'string',
    description: 'Least number of pods.',
    cell: ({ spec }) => (spec?.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
  },
  {
    name: 'MaxPods',
    type: 'string',
    description: 'Largest number of pods.',
    cell: ({ spec }) => spec?.maxReplicas ?? 0,
  },
  {
    name: 'Replicas',
    type: 'string',
    description: 'Pods there are.',
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

  // Single containers are not measured.
  gatedFields: [{ path: 'spec.metrics[].containerResource' }],
  prepareForCreate(object) {
    object.status = { currentReplicas: 0, desiredReplicas: 0 };
    prepareMetrics(object.spec);
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    prepareMetrics(object.spec);
  },
  validateCreate: (object) => validateAutoscaler(object, 1),
  // What has been scaled to nothing may stay so.
  validateUpdate: (object, old) => validateAutoscaler(object, old.spec?.minReplicas === 0 ? 0 : 1),

  columns,
  status: {
    validateUpdate: ({ status }) => [
      ...checkNotNegative(status?.currentReplicas, path('status', 'currentReplicas')),
      ...checkNotNegative(status?.desiredReplicas, path('status', 'desiredReplicas')),
    ],
  },
});

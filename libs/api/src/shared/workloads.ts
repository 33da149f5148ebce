/** Shared rules, columns and scale of workload kinds. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { LabelSelector, ObjectMeta } from '@orch/types/meta/v1';
import type { SubresourceScale, TableColumn } from '../definition.js';
import { checkNotNegative } from './rules.js';

interface Counted {
  metadata?: ObjectMeta;
}

interface Templated extends Counted {
  spec?: { template?: { metadata?: ObjectMeta } };
}

/** Defaults the labels of an object to those of its template. */
export function labelAsTemplate(object: Templated): void {
  const labels = object.spec?.template?.metadata?.labels ?? {};
  if (Object.keys(labels).length === 0) return;
  object.metadata ??= {};
  if (Object.keys(object.metadata.labels ?? {}).length === 0)
    object.metadata.labels = { ...labels };
}

/** A workload with replica counts. */
interface Replicated extends Counted {
  spec?: { replicas?: number };
  status?: { replicas?: number; readyReplicas?: number };
}

/** Columns of kinds whose pods are all from one template. */
export function replicaColumns<T extends Replicated>(): TableColumn<T>[] {
  return [
    {
      name: 'Desired',
      type: 'integer',
      description: 'Desired number of pods.',
      cell: (object) => object.spec?.replicas ?? 0,
    },
    {
      name: 'Current',
      type: 'integer',
      description: 'Observed number of pods.',
      cell: (object) => object.status?.replicas ?? 0,
    },
    {
      name: 'Ready',
      type: 'integer',
      description: 'Number of ready pods.',
      cell: (object) => object.status?.readyReplicas ?? 0,
    },
  ];
}

/** `2/3`, for kinds with rolling updates. */
export function readyColumn<T extends Replicated>(): TableColumn<T> {
  return {
    name: 'Ready',
    type: 'string',
    description: 'Ready and desired pods.',
    cell: (object) => `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
  };
}

/** `selector`: the text that the autoscaler reads. */
export function replicaScale<T extends Replicated>(
  selector: (object: T) => string,
  notFoundAs?: SubresourceScale<T>['notFoundAs'],
): SubresourceScale<T> {
  return {
    replicas: (object) => object.spec?.replicas ?? 0,
    setReplicas: (object, replicas) => {
      if (object.spec) object.spec.replicas = replicas;
    },
    statusReplicas: (object) => object.status?.replicas ?? 0,
    selector,
    ...(notFoundAs && { notFoundAs }),
  };
}

/** Selectors are immutable. */
export function validateSelectorUpdate(
  selector: LabelSelector | undefined,
  old: LabelSelector | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return semanticallyEqual(selector, old) ? [] : [immutable(fieldPath, selector)];
}

interface Collided {
  readonly collisionCount?: number;
}

/** The collision count must not decrease. */
export function validateCollisionCount(
  status: Collided | undefined,
  old: Collided | undefined,
): FieldError[] {
  const count = status?.collisionCount ?? 0;
  const before = old?.collisionCount;
  if (before === undefined || (status?.collisionCount !== undefined && count >= before)) return [];
  return [fieldError.invalid(path('status', 'collisionCount'), count, 'cannot be decremented')];
}

type Counts = Readonly<Record<string, unknown>>;

/** Status counts: none may be negative, and none in `parts` may exceed the total. */
export function validateCounts(
  status: object,
  fields: readonly string[],
  parts: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  const count = (field: string) => Number((status as Counts)[field] ?? 0);
  const errors = fields.flatMap((field) => checkNotNegative(count(field), fieldPath.child(field)));
  for (const field of parts) {
    if (count(field) > count('replicas')) {
      errors.push(
        fieldError.invalid(
          fieldPath.child(field),
          count(field),
          'cannot be greater than status.replicas',
        ),
      );
    }
  }
  if (parts.includes('availableReplicas') && count('availableReplicas') > count('readyReplicas')) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('availableReplicas'),
        count('availableReplicas'),
        'cannot be greater than readyReplicas',
      ),
    );
  }
  return errors;
}

/** The status counts of a kind whose pods are all from one template. */
export function validateReplicaCounts({ status = {} }: { status?: object }): FieldError[] {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];
  return validateCounts(
    status,
    ['replicas', ...parts, 'observedGeneration'],
    parts,
    path('status'),
  );
}

/** Rules that kinds which keep a number of pods have in common. */
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

/** An object without labels has those of its template. */
export function labelAsTemplate(object: Templated): void {
  const labels = object.spec?.template?.metadata?.labels ?? {};
  if (Object.keys(labels).length === 0) return;
  object.metadata ??= {};
  if (Object.keys(object.metadata.labels ?? {}).length === 0)
    object.metadata.labels = { ...labels };
}

/** What is wanted and what there is, where that is all that pods are counted by. */
interface Replicated extends Counted {
  spec?: { replicas?: number };
  status?: { replicas?: number; readyReplicas?: number };
}

/** Columns of the kinds whose pods are all of one template. */
export function replicaColumns<T extends Replicated>(): TableColumn<T>[] {
  return [
    {
      name: 'Desired',
      type: 'integer',
      description: 'Pods wanted.',
      cell: (object) => object.spec?.replicas ?? 0,
    },
    {
      name: 'Current',
      type: 'integer',
      description: 'Pods there are.',
      cell: (object) => object.status?.replicas ?? 0,
    },
    {
      name: 'Ready',
      type: 'integer',
      description: 'Pods that are ready.',
      cell: (object) => object.status?.readyReplicas ?? 0,
    },
  ];
}

/** `2/3`, of the kinds whose pods change over from one template to the next. */
export function readyColumn<T extends Replicated>(): TableColumn<T> {
  return {
    name: 'Ready',
    type: 'string',
    description: 'Ready pods out of those wanted.',
    cell: (object) => `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
  };
}

/** `selector` as the autoscaler reads it. */
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

/** A selector is for ever. */
export function validateSelectorUpdate(
  selector: LabelSelector | undefined,
  old: LabelSelector | undefined,
  at: FieldPath,
): FieldError[] {
  return semanticallyEqual(selector, old) ? [] : [immutable(at, selector)];
}

interface Collided {
  readonly collisionCount?: number;
}

/** How often a name was taken already only ever grows. */
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

/** Counts of a status: none below zero, none of `parts` above the total. */
export function validateCounts(
  status: object,
  fields: readonly string[],
  parts: readonly string[],
  at: FieldPath,
): FieldError[] {
  const count = (field: string) => Number((status as Counts)[field] ?? 0);
  const errors = fields.flatMap((field) => checkNotNegative(count(field), at.child(field)));
  for (const field of parts) {
    if (count(field) > count('replicas')) {
      errors.push(
        fieldError.invalid(at.child(field), count(field), 'cannot be greater than status.replicas'),
      );
    }
  }
  if (parts.includes('availableReplicas') && count('availableReplicas') > count('readyReplicas')) {
    errors.push(
      fieldError.invalid(
        at.child('availableReplicas'),
        count('availableReplicas'),
        'cannot be greater than readyReplicas',
      ),
    );
  }
  return errors;
}

/** Those of a kind whose pods are all of one template. */
export function validateReplicaCounts({ status = {} }: { status?: object }): FieldError[] {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];
  return validateCounts(
    status,
    ['replicas', ...parts, 'observedGeneration'],
    parts,
    path('status'),
  );
}

/**
 * Admission by what is known of the kinds: rules that fill a written object in or refuse it, before the
 * kind prepares and validates it. They decide from the object and from other objects, read through the
 * context; clock and randomness come from there as well.
 */
import type { Features } from '@orch/component';
import type { ApiObject } from '../definition.js';

/** Reads stored objects, in the shape in which they are stored. */
export interface ObjectReader {
  /** Undefined when there is none. `namespace` is empty for cluster-scoped kinds. */
  get(
    groupHead: string,
    plural: string,
    namespace: string,
    name: string,
  ): Promise<ApiObject | undefined>;
  /** All objects of a cluster-scoped kind; empty when the kind is not served. */
  list(groupHead: string, plural: string): Promise<readonly ApiObject[]>;
}

export interface AdmissionTarget {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Head of the group of the stored kind, and its plural. */
  readonly groupHead: string;
  readonly plural: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** In the stored shape; rules change it. Undefined for a delete. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
}

export interface AdmissionContext {
  readonly reader: ObjectReader;
  readonly features: Features;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Resolves after `delayMs`; rejects when the request's deadline is nearer. */
  readonly wait: (delayMs: number) => Promise<void>;
}

export interface AdmissionRule {
  readonly name: string;
  /** May change the object. Throws StatusError to refuse. */
  mutate?(target: AdmissionTarget, context: AdmissionContext): Promise<void> | void;
  /** After the kind's validation. Throws StatusError to refuse. */
  validate?(target: AdmissionTarget, context: AdmissionContext): Promise<void> | void;
}

/** Is the target an object of this kind itself, in one of these operations? */
export function isWriteOf(
  target: AdmissionTarget,
  groupHead: string,
  plural: string,
  operations: readonly AdmissionTarget['operation'][],
): boolean {
  return (
    target.groupHead === groupHead &&
    target.plural === plural &&
    target.subresource === '' &&
    operations.includes(target.operation)
  );
}

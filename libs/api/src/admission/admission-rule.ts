/**
 * Admission by what is known of the kinds: rules that fill a written object in or refuse it, before the
 * kind prepares and validates it. They decide from the object and from other objects, read through the
 * context; clock and randomness come from there as well.
 */
import { forbiddenObject, type GroupResource, type StatusError } from '@orch/apimachinery';
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
  /** All objects of a kind, or those of a namespace, by name; empty when the kind is not served. */
  list(groupHead: string, plural: string, namespace?: string): Promise<readonly ApiObject[]>;
}

/** What a requester may or may not do with an object. */
export interface Permission {
  readonly verb: string;
  /** Head of the group, and plural; they need not be those of a kind. */
  readonly groupHead: string;
  readonly plural: string;
  readonly name: string;
}

export interface AdmissionTarget {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Head of the group of the stored kind, and its plural. */
  readonly groupHead: string;
  readonly plural: string;
  /** As the client asked for it: a kind may be served in more groups than the one that stores it. */
  readonly groupResource: GroupResource;
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
  /** May the requester do this? Asks the authorizer. */
  readonly allows: (permission: Permission) => Promise<boolean>;
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

/** The name that refusals tell: one that has yet to be made is told by its prefix. */
export function refusedName({ name, object }: Pick<AdmissionTarget, 'name' | 'object'>): string {
  return name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown';
}

/** 403 for the object of the request. */
export function refusal(target: AdmissionTarget, cause: string): StatusError {
  return forbiddenObject(target.groupResource, refusedName(target), cause);
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

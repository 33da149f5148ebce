/**
 * Admission rules that know the kinds: they mutate or reject a written object before the kind
 * prepares and validates it. A rule decides from the object and from other objects, which it reads
 * through the context, as it does the clock and randomness.
 */

import type { ApiObject } from '@orch/api';
import { forbiddenObject, type GroupResource, type StatusError } from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type { AdmissionOperation } from '@orch/registry';
import type { Decision, User } from '@orch/security';
import type { KindName, KindTypes, ObjectOfKind } from './kind-types.js';

/** Reads stored objects in their stored shape. */
export interface ObjectReader {
  /** Undefined if the object does not exist. `namespace` is empty for cluster-scoped kinds. */
  get<Head extends string, Plural extends string>(
    groupHead: Head,
    plural: Plural,
    namespace: string,
    name: string,
  ): Promise<ObjectOfKind<Head, Plural> | undefined>;
  /** All objects of a kind, or those in a namespace, by name; empty if the kind is not served. */
  list<Head extends string, Plural extends string>(
    groupHead: Head,
    plural: Plural,
    namespace?: string,
  ): Promise<readonly ObjectOfKind<Head, Plural>[]>;
}

/** An action on an object that the requester may or may not be allowed to do. */
export interface Permission {
  readonly verb: string;
  /** Group head and plural; they need not belong to a kind. */
  readonly groupHead: string;
  /** Any if absent. */
  readonly version?: string;
  readonly plural: string;
  /** Empty, which is also the default, for cluster-scoped resources. */
  readonly namespace?: string;
  readonly subresource?: string;
  readonly name: string;
}

export interface AdmissionTarget {
  readonly operation: AdmissionOperation;
  /** Group head and plural of the stored kind. */
  readonly groupHead: string;
  readonly plural: string;
  /** As in the request: a kind may be served in more groups than the one it is stored in. */
  readonly groupResource: GroupResource;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** In the stored shape; rules mutate it. Undefined for a delete; the options of a connection. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
}

/** A create or an update of an object of one type. */
export interface WriteTarget<T extends ApiObject> extends AdmissionTarget {
  readonly operation: 'CREATE' | 'UPDATE';
  readonly object: T;
  readonly old: T | undefined;
}

export interface UpdateTarget<T extends ApiObject> extends WriteTarget<T> {
  readonly operation: 'UPDATE';
  readonly old: T;
}

export interface AdmissionContext {
  readonly user: User;
  readonly reader: ObjectReader;
  /** A dry run must have no side effects. */
  readonly dryRun: boolean;
  /** Reports whether the requester may do this, according to the authorizer. */
  readonly allows: (permission: Permission) => Promise<boolean>;
  /** The decision of the authorizer, with its reason, about any user. */
  readonly decide: (permission: Permission, user: User) => Promise<Decision>;
  readonly features: Features;
  /** The deadline of the request, on the monotonic clock. */
  readonly deadlineMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Resolves after `delayMs`; rejects if the request's deadline is earlier. */
  readonly wait: (delayMs: number) => Promise<void>;
}

export interface AdmissionRule<Target extends AdmissionTarget = AdmissionTarget> {
  readonly name: string;
  /** Whether it runs unless it is disabled. */
  readonly isDefault: boolean;
  /** The kinds it admits, as group head and plural: `core/pods`. Absent: all. */
  readonly kinds?: readonly string[];
  /** The operations it admits. Absent: all, connections included. */
  readonly operations?: readonly Target['operation'][];
  /** The subresource it admits writes of; empty: the object itself. Absent: all. */
  readonly subresource?: string;
  /** May mutate the object. Throws StatusError to reject. */
  mutate?(target: Target, context: AdmissionContext): Promise<void> | void;
  /** Runs after the kind's validation. Throws StatusError to reject. */
  validate?(target: Target, context: AdmissionContext): Promise<void> | void;
}

/** A rule for writes of one kind. */
export interface WriteRule<Kind extends KindName>
  extends AdmissionRule<WriteTarget<KindTypes[Kind]>> {
  readonly kinds: readonly Kind[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
}

/** A rule for updates of one kind. */
export interface UpdateRule<Kind extends KindName>
  extends AdmissionRule<UpdateTarget<KindTypes[Kind]>> {
  readonly kinds: readonly Kind[];
  readonly operations: readonly ['UPDATE'];
}

/** Reports whether the rule admits such requests. */
export function admits(
  { kinds, operations, subresource }: AdmissionRule,
  target: Pick<AdmissionTarget, 'groupHead' | 'plural' | 'operation' | 'subresource'>,
): boolean {
  return (
    (kinds === undefined || kinds.includes(`${target.groupHead}/${target.plural}`)) &&
    (operations === undefined || operations.includes(target.operation)) &&
    (subresource === undefined || subresource === target.subresource)
  );
}

/** The name in rejections: the prefix if the name is not generated yet. */
export function requestedName({ name, object }: Pick<AdmissionTarget, 'name' | 'object'>): string {
  return name || object?.metadata?.name || object?.metadata?.generateName || 'Unknown';
}

/** A 403 error for the object of the request. */
export function forbiddenTarget(target: AdmissionTarget, cause: string): StatusError {
  return forbiddenObject(target.groupResource, requestedName(target), cause);
}

/**
 * Reports whether the request is one of these operations on an object of this kind, not on a
 * subresource.
 */
export function isWriteOf<Head extends string, Plural extends string>(
  target: AdmissionTarget,
  groupHead: Head,
  plural: Plural,
  operations: readonly ('CREATE' | 'UPDATE')[],
): target is WriteTarget<ObjectOfKind<Head, Plural>> {
  return (
    target.groupHead === groupHead &&
    target.plural === plural &&
    target.subresource === '' &&
    operations.some((operation) => operation === target.operation)
  );
}

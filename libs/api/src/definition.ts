/**
 * The contract between a kind and the registry: everything specific to the kind, and nothing that
 * the registry can do for all kinds. One file per kind exports one `ResourceDefinition`;
 * `definitions.ts` lists them.
 */
import type { FieldError } from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type { CustomResourceConversion } from '@orch/types/apiextensions/v1beta1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type { StructuralSchema } from './schema/index.js';

/** Any API object in memory: plain JSON values in the shape of its message. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

export type Verb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch';

/** Inputs of decisions about an object, beside the object. */
export interface StrategyContext {
  /** RFC 3339, seconds; the time of the request. */
  readonly now: string;
  readonly user: {
    readonly name: string;
    readonly uid: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
  readonly dryRun: boolean;
  readonly features: Features;
  /** The version of the request, for rules that differ by version. Absent: the stored version. */
  readonly requestVersion?: { readonly group: string; readonly version: string };
}

/**
 * A version in which the resource is served. Its message is `<head>/<version>.<kind>` of the
 * schema.
 */
export interface ServedVersion<T extends ApiObject = ApiObject> {
  /** Group head, such as `core`, `apps`, `events`. */
  readonly group: string;
  readonly version: string;
  /**
   * Present if the shape of the version differs from the stored one; lossless in both directions.
   * The object is of this version: a method may declare it as the version's type.
   */
  toStored?(object: ApiObject): T;
  readonly fromStored?: (object: T) => ApiObject;
  /**
   * Sets defaults that depend on other fields; the constant defaults of the schema are already set.
   * Also synchronises mirrored fields. Runs on every decoded body; must be idempotent.
   */
  setDefaults?(object: ApiObject, features: Features): void;
  /** Names of selectable fields in this version: its label -> the label in `selectableFields`. */
  readonly selectableFieldAliases?: Readonly<Record<string, string>>;
  /** Selectable fields of this version that are never set: they compare as empty. */
  readonly emptySelectableFields?: readonly string[];
  /** Overrides the kind's value for this version. */
  readonly defaultPropagation?: DefaultPropagation;
  /** The version predates the `status` subresource. */
  readonly withoutStatus?: boolean;
  /** Adds a `Warning` header to responses in this version. Releases are `major.minor`. */
  readonly deprecation?: Deprecation;
  /** The schema of a custom resource, which has no message. */
  readonly schema?: StructuralSchema;
  /** The warning of a custom resource, instead of one generated from `deprecation`. */
  readonly warning?: string;
}

/** What a delete does with dependents by default. `unsupported`: dependents are ignored. */
export type DefaultPropagation = 'background' | 'orphan' | 'unsupported';

export interface Deprecation {
  readonly since: string;
  readonly unavailableFrom?: string;
  readonly use?: { readonly group: string; readonly version: string; readonly kind: string };
}

export interface TableColumn<T extends ApiObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  /** 0: always shown. 1: shown in wide output. */
  readonly priority?: number;
  /** In our own words. */
  readonly description: string;
  /** `nowMs` is for ages. */
  readonly cell: (object: T, nowMs: number) => string | number | boolean | null;
}

/** A condition of a table row. */
export interface TableRowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** A key that is written in the same commit as the object, for an allocation. */
export interface Claim {
  /** Key below the allocator, unique in the cluster, such as `clusterip/10.96.0.7`. */
  readonly key: string;
  /** Key of the object that holds it, for errors and repair. */
  readonly holder: string;
}

/** Looks up allocated keys. The registry claims new keys in the commit of the object. */
export interface Allocator {
  /** Reports whether any object holds this key. */
  isClaimed(key: string): boolean;
}

/** Cluster-wide settings that kinds depend on. */
export interface ClusterOptions {
  /** CIDRs of service addresses; the first one has the default family. */
  readonly serviceClusterIpRanges: readonly string[];
  readonly serviceNodePortRange: { readonly from: number; readonly to: number };
}

export interface AllocationContext extends StrategyContext {
  readonly allocator: Allocator;
  readonly settings: ClusterOptions;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * A subresource whose body is the whole object (`status`, `finalize`, `approval`). The registry
 * reports metadata errors twice, as for other updates, and then these errors; `validate` of the
 * kind does not run.
 */
export interface SubresourceStatus<T extends ApiObject> {
  /** Restores the fields that this write may not change; for status, the default is the `spec`. */
  readonly prepareForUpdate?: (object: T, old: T, context: StrategyContext) => void;
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => readonly FieldError[];
  /**
   * The fields that `prepareForUpdate` restores, as paths such as `metadata.labels`: this write
   * does not change their ownership. Default: `spec` for status, `status` for the others.
   */
  readonly resetFields?: readonly string[];
}

/** Reads and writes the object for the `scale` subresource. */
export interface SubresourceScale<T extends ApiObject> {
  /** Undefined if the object does not set it. */
  readonly replicas: (object: T) => number | undefined;
  /** Path of the replicas, for kinds that may not set them. */
  readonly replicasPath?: string;
  /** The kind's own rules reject invalid numbers. */
  readonly validatesReplicas?: boolean;
  readonly setReplicas: (object: T, replicas: number) => void;
  readonly statusReplicas: (object: T) => number;
  /** Selector in query form. */
  readonly selector: (object: T) => string;
  /** The resource in a NotFound error; default `<plural>/scale` in its group. */
  readonly notFoundAs?: { readonly group: string; readonly resource: string };
}

export interface GatedField {
  readonly gate: string;
  /** Member names from the object on; `[]` after a name means every element of a list. */
  readonly path: string;
  /** For a map at `path`: the affected keys. */
  readonly keys?: (key: string) => boolean;
  /** Computes the replacement of a value; without it, the value is dropped. */
  readonly off?: (value: unknown) => unknown;
}

export interface CustomVersion {
  readonly isServed: boolean;
  readonly definition: ResourceDefinition;
}

export interface CustomKind {
  /** Name of the CustomResourceDefinition. */
  readonly name: string;
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  /** The version in which objects are stored. */
  readonly storageVersion: string;
  /** The objects are being deleted; no new ones are accepted. */
  readonly isTerminating: boolean;
  readonly conversion: CustomResourceConversion;
  readonly versions: readonly CustomVersion[];
}

/**
 * One check of a write. `metadata`: the metadata of the new object. `metadataUpdate`: its changes.
 * `object`: `validate`, with `validateCreate` at creation. `update`: `validateUpdate`.
 */
export type WriteCheck = 'metadata' | 'metadataUpdate' | 'object' | 'update';

export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  /** Default: `<kind>List`. */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  /** Present for a custom resource; each of its versions has its own definition. */
  readonly custom?: CustomKind;
  /** Default: all verbs. */
  readonly verbs?: readonly Verb[];
  /**
   * Served versions, preferred first within a group; a resource may be served in several groups.
   */
  readonly versions: readonly ServedVersion<T>[];
  /** The version in which objects are stored: the hub. */
  readonly stored: { readonly group: string; readonly version: string };
  /** Group head in errors for invalid objects; default: that of the request. */
  readonly errorGroup?: string;
  /** Not stored: a create is an action that the server performs. */
  readonly virtual?: boolean;

  /**
   * Validates metadata.name, or a prefix of it, and returns messages; default: DNS subdomain.
   */
  readonly validateName?: (name: string, prefix: boolean, object: T) => readonly string[];
  /**
   * The kind has a `metadata.generation`: the registry sets it to 1 at creation and preserves it on
   * update; the kind's `prepareForUpdate` increments it.
   */
  readonly hasGeneration?: boolean;
  /** Finalizers without a slash must be well-known (default true). */
  readonly strictFinalizers?: boolean;

  /**
   * Fields of feature gates; the registry drops them before it prepares an object if the gate is
   * off.
   */
  readonly gatedFields?: readonly GatedField[];
  /**
   * Runs after decoding and defaulting, before validation: clears fields that clients may not set,
   * sets others.
   */
  readonly prepareForCreate?: (object: T, context: StrategyContext) => void;
  readonly prepareForUpdate?: (object: T, old: T, context: StrategyContext) => void;
  /**
   * Runs at creation after `prepareForCreate`, when the name is known, to copy it outside the
   * metadata. Runs again if a generated name (`before`) was taken and replaced.
   */
  readonly prepareNamed?: (object: T, before: string | undefined, context: StrategyContext) => void;
  /** Validates the object without its metadata, at creation and for the new object on update. */
  readonly validate?: (object: T, context: StrategyContext) => readonly FieldError[];
  /** Rules for creation only; after `validate`. */
  readonly validateCreate?: (object: T, context: StrategyContext) => readonly FieldError[];
  /** Rules between the old and the new object. */
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => readonly FieldError[];
  /** Runs at creation after validating admission: sets what webhooks do not see. */
  readonly prepareForStorage?: (object: T) => void;
  /**
   * The kind's own checks of a write, in the order of their errors. The checks of all kinds run
   * before those of an update, and after those of a creation that do not include the metadata.
   * Default of an update: `metadataUpdate`, `metadata`, `object`, `update`.
   */
  readonly createChecks?: readonly Extract<WriteCheck, 'metadata' | 'object'>[];
  readonly updateChecks?: readonly WriteCheck[];
  /** Warnings for the client (`Warning` header), such as deprecated fields. */
  readonly warnings?: (object: T) => readonly string[];

  /**
   * Allocates values that are unique in the cluster. Called after validation with the new object,
   * and the old one on update; sets unset values (may mutate `object`) and returns all keys that
   * the object holds now. The registry claims and releases the difference in the same commit, and
   * calls again if another writer claimed a key first. Throws StatusError if a value cannot be
   * allocated.
   */
  readonly allocate?: (
    object: T,
    old: T | undefined,
    context: AllocationContext,
  ) => readonly Claim[];

  /** Updating an object that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /** An update without resourceVersion is accepted (default true). */
  readonly unconditionalUpdate?: boolean;
  /** DELETE returns the object instead of a Status. */
  readonly deleteReturnsObject?: boolean;
  /** Default: `background`. */
  readonly defaultPropagation?: DefaultPropagation;
  /**
   * Graceful deletion: the number of seconds between the delete request and removal; 0 removes
   * immediately. The registry sets deletionTimestamp and deletionGracePeriodSeconds from it.
   * `requested` is the client's gracePeriodSeconds.
   */
  readonly deletionGracePeriodSeconds?: (object: T, requested: number | undefined) => number;
  /** Mutates the object when its deletion begins (namespace phase). */
  readonly prepareForDelete?: (object: T, context: StrategyContext) => void;
  /** A finalizer to add when the deletion begins, if a controller has to clean up first. */
  readonly cleanupFinalizer?: () => string;
  /** Finalizers in the spec, which also hold the object (namespaces). */
  readonly specFinalizers?: (object: T) => readonly string[];
  /** Rejects a delete (protected namespaces). */
  readonly validateDelete?: (object: T) => readonly FieldError[] | undefined;

  readonly columns: readonly TableColumn<T>[];
  /** Conditions of the object's row, such as the one of a terminated pod. */
  readonly rowConditions?: (object: T) => readonly TableRowCondition[];
  /**
   * Field selectors beside metadata.name and, for namespaced kinds, metadata.namespace: label ->
   * value. If present, other fields are rejected with `unsupportedFieldMessage`; if absent, with
   * `unknownFieldMessage`, and metadata.namespace is accepted for every kind.
   */
  readonly selectableFields?: Readonly<Record<string, (object: T) => string>>;

  readonly status?: SubresourceStatus<T>;
  /** The `finalize` subresource (namespaces). */
  readonly finalize?: SubresourceStatus<T>;
  /** The `approval` subresource (certificate signing requests). */
  readonly approval?: SubresourceStatus<T>;
  readonly scale?: SubresourceScale<T>;
  /** The `ephemeralcontainers` subresource (pods), of a feature that is off by default. */
  readonly ephemeralContainers?: SubresourceStatus<T>;
  /** Objects expire this long after the last write (events). */
  readonly timeToLiveMs?: number;
}

/**
 * Erases the type of a definition. Safe because the registry only passes objects of the kind to the
 * functions of that kind.
 */
export function define<T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition {
  return definition as unknown as ResourceDefinition;
}

/**
 * What a kind tells the registry about itself: everything particular to the kind and nothing that the
 * registry can do for all. One file a kind exports one `ResourceDefinition`; `definitions.ts` lists them.
 */
import type { FieldError } from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type { CustomKind } from './apiextensions/custom-kind.js';
import type { StructuralSchema } from './apiextensions/schema/index.js';
import type { GatedField } from './shared/gated-fields.js';

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

/** What decisions about an object may need beyond it. */
export interface RequestContext {
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
  /** The version the client wrote in, where rules differ by version; absent: the stored one. */
  readonly requestVersion?: { readonly group: string; readonly version: string };
}

/** A version in which the resource is served. Its message is `<head>/<version>.<kind>` of the schema. */
export interface ServedVersion<T extends ApiObject = ApiObject> {
  /** API group head, such as `core`, `apps`, `events`. */
  readonly group: string;
  readonly version: string;
  /** Present when this version's shape differs from the stored one: both ways, without loss. */
  readonly toStored?: (object: ApiObject) => T;
  readonly fromStored?: (object: T) => ApiObject;
  /**
   * Defaults of this version that depend on other fields; static ones come from the schema and are
   * there already. Also brings mirrored fields into step. Runs on every decoded body; may run twice.
   */
  readonly setDefaults?: (object: ApiObject, features: Features) => void;
  /** Names that this version gives to selectable fields: its label -> the label in `selectableFields`. */
  readonly selectableFieldAliases?: Readonly<Record<string, string>>;
  /** Fields that may be selected by in this version and that nothing sets: they compare as empty. */
  readonly emptySelectableFields?: readonly string[];
  /** In place of the kind's, where versions differ. */
  readonly defaultPropagation?: DefaultPropagation;
  /** Served without the `status` subresource: the version is older than that. */
  readonly withoutStatus?: boolean;
  /** Warn clients of this version (`Warning` header). Releases are `major.minor`. */
  readonly deprecation?: Deprecation;
  /** Of a custom resource: what its objects look like; it has no message. */
  readonly schema?: StructuralSchema;
  /** Of a custom resource: the warning, in place of one that is made from `deprecation`. */
  readonly warning?: string;
}

/** What a delete does with dependents when it does not say. `unsupported`: they are never looked at. */
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
  /** 0 is always shown, 1 with wide output. */
  readonly priority?: number;
  /** Our own words. */
  readonly description: string;
  /** `nowMs`: for ages. */
  readonly cell: (object: T, nowMs: number) => string | number | boolean | null;
}

/** What a table says about a row beyond its cells. */
export interface TableRowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** One more key that is written in the same commit as the object: an allocation. */
export interface Claim {
  /** Key below the allocator, unique in the cluster, such as `clusterip/10.96.0.7`. */
  readonly key: string;
  /** Who holds it, for errors and repair: the object's key. */
  readonly holder: string;
}

/** Gives out values that must be unique in the cluster; backed by keys claimed with the object's commit. */
export interface Allocator {
  /** Is this key claimed by anybody? */
  taken(key: string): boolean;
}

/** Ranges and other settings of the cluster that kinds decide by. */
export interface ClusterSettings {
  /** CIDRs of service addresses, the first is the default family's. */
  readonly serviceClusterIpRanges: readonly string[];
  readonly serviceNodePortRange: { readonly from: number; readonly to: number };
}

export interface AllocationContext extends RequestContext {
  readonly allocator: Allocator;
  readonly settings: ClusterSettings;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * A subresource whose body is the whole object (`status`, `finalize`, `approval`). The registry reports the errors of
 * the metadata twice, as for other updates, and then these; `validate` of the kind does not run.
 */
export interface SubresourceStatus<T extends ApiObject> {
  /** Takes over from `old` what the write may not change; for status by default the `spec`. */
  readonly prepareForUpdate?: (object: T, old: T, context: RequestContext) => void;
  readonly validateUpdate?: (object: T, old: T, context: RequestContext) => readonly FieldError[];
  /**
   * What `prepareForUpdate` takes over from `old`, as paths such as `metadata.labels`: nobody comes to
   * own it by this write. By default the `spec`, and the `status` where `spec` is what is written.
   */
  readonly resetFields?: readonly string[];
}

/** How the `scale` subresource reads and writes the object. */
export interface SubresourceScale<T extends ApiObject> {
  /** Undefined where the object does not say. */
  readonly replicas: (object: T) => number | undefined;
  /** Where that would stand; for kinds that may not say. */
  readonly replicasPath?: string;
  /** The kind's own rules refuse numbers that cannot be. */
  readonly isChecked?: boolean;
  readonly setReplicas: (object: T, replicas: number) => void;
  readonly statusReplicas: (object: T) => number;
  /** Selector in its text form. */
  readonly selector: (object: T) => string;
  /** What is not found where the object is missing; `<plural>/scale` of its group when absent. */
  readonly notFoundAs?: { readonly group: string; readonly resource: string };
}

export interface ResourceDefinition<T extends ApiObject = ApiObject> {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  /** `<kind>List` when absent. */
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  /** Present: a custom resource in one of its versions, of which each has a definition like this. */
  readonly custom?: CustomKind;
  /** All when absent. */
  readonly verbs?: readonly Verb[];
  /** Versions served, preferred first within a group; a resource may be served in several groups. */
  readonly versions: readonly ServedVersion<T>[];
  /** The version in which objects are stored: the hub. */
  readonly stored: { readonly group: string; readonly version: string };
  /** Head of the group that refusals of invalid objects name; that of the request when absent. */
  readonly errorGroup?: string;
  /** Nothing is stored: what is sent is a question or an order, and what a create does is the server's. */
  readonly virtual?: boolean;

  /** Metadata.name format; DNS subdomain when absent. Returns messages. */
  readonly validateName?: (name: string, prefix: boolean) => readonly string[];
  /**
   * The kind counts `metadata.generation`: the registry sets it to 1 at creation and keeps it at update;
   * the kind's `prepareForUpdate` adds one when what it counts has changed.
   */
  readonly hasGeneration?: boolean;
  /** Finalizers without a slash must be well-known (default true). */
  readonly strictFinalizers?: boolean;

  /** Fields of features that may be off; the registry drops them before it prepares an object. */
  readonly gatedFields?: readonly GatedField[];
  /** After decoding and defaulting, before validation: clears what a client may not set, fills in. */
  readonly prepareForCreate?: (object: T, context: RequestContext) => void;
  readonly prepareForUpdate?: (object: T, old: T, context: RequestContext) => void;
  /**
   * At creation, after `prepareForCreate`, once the object has its name: puts it where it stands beside
   * the metadata. Again when a generated name (`before`) was taken and another one took its place.
   */
  readonly prepareNamed?: (object: T, before: string | undefined, context: RequestContext) => void;
  /**
   * Rules for the object alone, metadata excepted (`validateObjectMeta` is the registry's). At creation
   * and, before `validateUpdate`, for the new object at update. The order of an update's errors:
   * `validateObjectMetaUpdate` twice, `validateObjectMeta`, `validate`, `validateUpdate`.
   */
  readonly validate?: (object: T, context: RequestContext) => readonly FieldError[];
  /** Rules that hold at creation only; after `validate`. */
  readonly validateCreate?: (object: T, context: RequestContext) => readonly FieldError[];
  /** Rules between old and new. */
  readonly validateUpdate?: (object: T, old: T, context: RequestContext) => readonly FieldError[];
  /** Warnings for the client (`Warning` header), such as deprecated fields. */
  readonly warnings?: (object: T) => readonly string[];

  /**
   * Values unique in the cluster that the object holds. Called with the new object (and the old one
   * at update) after validation; fills free choices in (may mutate `object`) and returns all that it
   * holds now. The registry claims and releases the difference in the same commit and calls again
   * when a claim was lost to another writer. Throws StatusError for what cannot be had.
   */
  readonly allocate?: (
    object: T,
    old: T | undefined,
    context: AllocationContext,
  ) => readonly Claim[];

  /** Replacing an object that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /** A replace without resourceVersion is taken (default true). */
  readonly unconditionalUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly deleteReturnsObject?: boolean;
  /** `background` when absent. */
  readonly defaultPropagation?: DefaultPropagation;
  /**
   * Graceful deletion: seconds to keep the object after a delete was asked for; 0 is at once. The
   * registry sets deletionTimestamp and deletionGracePeriodSeconds from it. `requested` is the
   * client's gracePeriodSeconds.
   */
  readonly deletionGracePeriodSeconds?: (object: T, requested: number | undefined) => number;
  /** Changes the object when its deletion begins (namespace phase). */
  readonly prepareForDelete?: (object: T, context: RequestContext) => void;
  /** A finalizer that is set when the deletion begins: something has to be cleared away first. */
  readonly cleanupFinalizer?: () => string;
  /** Finalizers in the spec that also hold the object (namespaces). */
  readonly specFinalizers?: (object: T) => readonly string[];
  /** Refuses a delete (protected namespaces). */
  readonly validateDelete?: (object: T) => readonly FieldError[] | undefined;

  readonly columns: readonly TableColumn<T>[];
  /** Conditions of the object's row, such as a pod that has ended. */
  readonly rowConditions?: (object: T) => readonly TableRowCondition[];
  /**
   * Field selectors beyond metadata.name and, for namespaced kinds, metadata.namespace: label -> value.
   * Present: other fields are refused with `unsupportedFieldMessage`; absent: with `unknownFieldMessage`
   * and metadata.namespace is taken for every kind.
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
  /** Objects disappear that long after the last write (events). */
  readonly timeToLiveMs?: number;
}

/**
 * Closes a definition over its type. Safe because the registry only ever hands an object of the kind to
 * the functions of that kind.
 */
export function define<T extends ApiObject>(definition: ResourceDefinition<T>): ResourceDefinition {
  return definition as unknown as ResourceDefinition;
}

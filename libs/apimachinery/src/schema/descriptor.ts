/**
 * What the generated descriptors say about the API types. One source, `proto/orch/api`, one form at run
 * time: everything that needs to know a field (codecs, patches, apply, OpenAPI) reads it from here.
 * Descriptors are immutable and shared.
 */

/** Name of a type: `core/v1.Pod`, head of the group, version and type. */
export type TypeName = string;

export type FieldKind =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  /** Base64 text in JSON. */
  | 'bytes'
  | 'message'
  /** Any JSON value; never on the protobuf wire. */
  | 'any';

export interface FieldDescriptor {
  /** Name in JSON; empty for members that stand in the parent. */
  readonly name: string;
  /** Protobuf field number; meaningless in a type that is `jsonOnly`. */
  readonly number: number;
  readonly kind: FieldKind;
  /** Absent: a single value. Maps are keyed by string. */
  readonly cardinality?: 'list' | 'map';
  /** Type of a message, or of the elements. */
  readonly ref?: TypeName;
  /** May be absent, so that absent and zero differ. Only set on single values. */
  readonly nullable?: true;
  /** Listed as required in the schema. */
  readonly required?: true;
  /** Written in JSON even when empty; messages that are not `nullable` always are. */
  readonly always?: true;
  /** The members stand in the parent in JSON. */
  readonly inline?: true;
  /** Taken when absent, or when empty and not `nullable`: text for strings, JSON for everything else. */
  readonly default?: string;
  /** Key in `enums` of the file, or `head/version.Name`. */
  readonly enumType?: string;
  readonly keyEnumType?: string;
  /** Strategic merge patch. */
  readonly mergeKey?: string;
  /** Any of `merge`, `replace` and `retainKeys`, joined by commas. */
  readonly mergeStrategy?: string;
  /** Apply. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly structType?: 'atomic' | 'granular';
  readonly description?: string;
}

/** JSON forms that do not follow from the fields. */
export type Encoding =
  /** Text `2006-01-02T15:04:05Z`; seconds and nanos on the wire. */
  | 'time'
  /** Text with six digits of a second. */
  | 'microTime'
  /** Text such as `1h2m3s`; nanoseconds on the wire. */
  | 'duration'
  | 'quantity'
  | 'intOrString'
  /** An object of any type, as it is; on the wire the bytes of its JSON text. */
  | 'rawExtension'
  | 'fieldsV1'
  | 'anyJson'
  /** A list of strings. */
  | 'stringList'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray'
  /** An object of any type; on the wire the envelope of protobuf bodies, with JSON inside. */
  | 'unknownEnvelope';

/** Releases; `replacement` is the name of another type. */
export interface Lifecycle {
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: TypeName;
}

export interface Union {
  readonly discriminator: string;
  readonly members: readonly { readonly field: string; readonly value: string }[];
}

export interface TypeDescriptor {
  /** In the order in which JSON is written. */
  readonly fields: readonly FieldDescriptor[];
  /** JSON carries `apiVersion` and `kind`. */
  readonly typeMeta?: true;
  /** A kind of the schema; `group` when it is not the file's, `everywhere` when of all groups. */
  readonly kind?: { readonly group?: string; readonly everywhere?: boolean };
  readonly encoding?: Encoding;
  /** Another name for this type; `fields` is empty. */
  readonly aliasOf?: TypeName;
  readonly lifecycle?: Lifecycle;
  /** Not part of OpenAPI. */
  readonly internal?: true;
  readonly jsonOnly?: true;
  readonly structType?: 'atomic' | 'granular';
  readonly unions?: readonly Union[];
  readonly description?: string;
}

/** One `.proto` file. */
export interface FileDescriptor {
  /** `core/v1`. */
  readonly name: string;
  /** Head of the group and version; absent for shared types. */
  readonly group?: string;
  readonly version?: string;
  /** Package of the OpenAPI names, after the brand's prefix; may hold placeholders. */
  readonly openapiPackage?: string;
  /** Known values by name; empty when nothing is known. May hold placeholders. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly types: Readonly<Record<string, TypeDescriptor>>;
}

/**
 * Types of the generated descriptors of the API types. `proto/orch/api` is the only source, and
 * this is its only form at run time: codecs, patches, apply and OpenAPI read fields from here.
 * Descriptors are immutable and shared.
 */

/** Name of a type, such as `core/v1.Pod`: group head, version and type. */
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
  /** Name in JSON; empty for a field whose members are inlined in the parent. */
  readonly name: string;
  /** Protobuf field number; meaningless in a `jsonOnly` type. */
  readonly number: number;
  readonly kind: FieldKind;
  /** Absent for a single value. Map keys are strings. */
  readonly cardinality?: 'list' | 'map';
  /** Type of a message, or of the elements. */
  readonly ref?: TypeName;
  /** Absent and zero are different values. Only set on single values. */
  readonly nullable?: true;
  /** Listed as required in the schema. */
  readonly required?: true;
  /** Written in JSON even if empty; messages that are not `nullable` are always written. */
  readonly always?: true;
  /** The members are inlined in the parent in JSON. */
  readonly inline?: true;
  /**
   * Used if the field is absent, or if it is empty and not `nullable`. Text for strings, JSON for
   * all other kinds.
   */
  readonly default?: string;
  /** Key in `enums` of the file, or `head/version.Name`. */
  readonly enumType?: string;
  readonly keyEnumType?: string;
  /** Merge key of strategic merge patches. */
  readonly mergeKey?: string;
  /** Any of `merge`, `replace` and `retainKeys`, joined by commas. */
  readonly mergeStrategy?: string;
  /** Merge behaviour of apply. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly structType?: 'atomic' | 'granular';
  readonly description?: string;
}

/** JSON encodings that do not follow from the fields. */
export type Encoding =
  /** Text `2006-01-02T15:04:05Z`; seconds and nanos on the wire. */
  | 'time'
  /** Text with microseconds. */
  | 'microTime'
  /** Text such as `1h2m3s`; nanoseconds on the wire. */
  | 'duration'
  | 'quantity'
  | 'intOrString'
  /** An object of any type, unchanged; on the wire the bytes of its JSON text. */
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
  /**
   * A top-level kind; `group` if it differs from the file's, `everywhere` if it exists in all
   * groups.
   */
  readonly kind?: { readonly group?: string; readonly everywhere?: boolean };
  readonly encoding?: Encoding;
  /** The type that this name is an alias of; `fields` is empty. */
  readonly aliasOf?: TypeName;
  readonly lifecycle?: Lifecycle;
  /** Not in OpenAPI. */
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
  /** Group head and version; absent for shared types. */
  readonly group?: string;
  readonly version?: string;
  /** Package of the OpenAPI names, without the brand's prefix; may hold placeholders. */
  readonly openapiPackage?: string;
  /** Known values by name; an empty list means that any value is allowed. May hold placeholders. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly types: Readonly<Record<string, TypeDescriptor>>;
}

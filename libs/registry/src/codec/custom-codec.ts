/**
 * Objects of custom resources: JSON whose metadata is like that of every kind and whose rest is
 * what the schema of their version says. They have no protobuf form.
 */
import type { ApiObject, ServedVersion, StructuralSchema } from '@orch/api';
import {
  codecFor,
  deepCopy,
  invalid,
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  objectDepthMax,
  SchemaError,
} from '@orch/apimachinery';
import { droppedFields } from './dropped-fields.js';
import type { ObjectCodec } from './object-codec.js';
import { unknownFields } from './unknown-fields.js';

export class CustomCodec implements ObjectCodec {
  readonly name: string;

  constructor(
    private readonly served: ServedVersion,
    private readonly apiVersion: string,
    kind: string,
  ) {
    this.name = `${apiVersion}.${kind}`;
  }

  /**
   * The object without what its schema does not know. Throws SchemaError, and 422 for metadata of
   * objects in it.
   */
  fromJson(value: unknown): ApiObject {
    if (!isJsonObject(value)) throw new SchemaError('not an object');
    if (isDeeperThan(value, objectDepthMax)) throw new SchemaError('nested too deeply');
    const metadata = metadataFrom(value.metadata);
    const object: JsonObject = { ...deepCopy(value), metadata };
    const schema = this.schema();
    schema.prune(object);
    const errors = schema.coerceMetadata(object, false);
    if (errors.length > 0) {
      const [group = ''] = this.apiVersion.split('/');
      throw invalid({ group, kind: String(value.kind ?? '') }, String(metadata.name ?? ''), errors);
    }
    return object;
  }

  setDefaults(object: ApiObject): void {
    const schema = this.schema();
    if (schema.hasDefaults) schema.applyDefaults(object as JsonObject);
  }

  /**
   * Brings an object of this version, that may have been written under another schema, into its
   * shape.
   */
  fromStore(object: ApiObject): ApiObject {
    this.trim(object);
    this.setDefaults(object);
    return object;
  }

  /** Takes away what a conversion or another schema brought and this version does not know. */
  trim(object: ApiObject): ApiObject {
    const schema = this.schema();
    const json = object as JsonObject;
    schema.prune(json);
    schema.coerceMetadata(json, true);
    return object;
  }

  unknownFields(value: unknown): string[] {
    if (!isJsonObject(value) || isDeeperThan(value, objectDepthMax)) return [];
    const pruned = deepCopy(value);
    const schema = this.schema();
    schema.prune(pruned);
    schema.coerceMetadata(pruned, true);
    const ofMetadata = unknownFields('meta/v1.ObjectMeta', value.metadata ?? {});
    return [...ofMetadata.map((field) => `metadata.${field}`), ...droppedFields(value, pruned)];
  }

  toProtobuf(): Buffer {
    throw new SchemaError('custom resources have no protobuf form');
  }

  fromProtobuf(): ApiObject {
    throw new SchemaError('custom resources have no protobuf form');
  }

  private schema(): StructuralSchema {
    const { schema } = this.served;
    if (!schema) throw new Error(`${this.name} has no schema`);
    return schema;
  }
}

function metadataFrom(value: unknown): JsonObject {
  try {
    return codecFor<JsonObject>('meta/v1.ObjectMeta').fromJson(value);
  } catch (error) {
    if (error instanceof SchemaError) throw error.within('metadata');
    throw error;
  }
}

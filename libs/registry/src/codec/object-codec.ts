/**
 * Encodes and decodes the objects of a served version, from message descriptors or from the schema
 * of a definition.
 */
import type { ApiObject } from '@orch/api';
import type { Codec } from '@orch/apimachinery';

export type ObjectCodec<T extends object = ApiObject> = Pick<
  Codec<T>,
  'name' | 'fromJson' | 'setDefaults' | 'toProtobuf' | 'fromProtobuf'
> & {
  /** Paths of the fields that are not of the type; of the message when absent. */
  readonly unknownFields?: (value: unknown) => string[];
};

/** What reads and writes the objects of a served version: made from messages, or from a schema that came with a definition. */
import type { ApiObject } from '@orch/api';
import type { Codec } from '@orch/apimachinery';

export type ObjectCodec = Pick<
  Codec<ApiObject>,
  'name' | 'fromJson' | 'setDefaults' | 'toProtobuf' | 'fromProtobuf'
> & {
  /** Paths of the fields that are not of the type; of the message when absent. */
  readonly unknownFields?: (value: unknown) => string[];
};

/** Request bodies in protobuf. Pure. */
import { codecFor, kindNamed, SchemaError, wrapUnknown } from '@orch/apimachinery';
import type { RequestOptions } from './rest-types.js';

interface Typed {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/**
 * Returns the object in protobuf; undefined if it has no protobuf form: custom resources, bodies
 * that are not the object of a resource, and objects with a value that their kind does not allow,
 * which the server describes better.
 */
export function protobufBody({ body, bodyKind }: RequestOptions): Buffer | undefined {
  if (!bodyKind) return undefined;
  const { apiVersion = bodyKind.apiVersion, kind = bodyKind.kind } = body as Typed;
  const known = kindNamed(apiVersion, kind);
  if (!known) return undefined;
  try {
    // Without the normal form of the JSON first: its fields have the same bytes.
    return wrapUnknown(apiVersion, kind, codecFor<object>(known.type).toProtobuf(body as object));
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

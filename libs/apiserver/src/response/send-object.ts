/** Responses with one object. */
import type { ApiObject } from '@orch/api';
import { type Codec, wrapUnknown } from '@orch/apimachinery';
import type { ServedResource } from '@orch/registry';
import type { Entry } from '@orch/store';
import type { RequestContext } from '../http/request-context.js';
import { sendBody } from '../http/respond.js';
import { contentTypeOf } from '../request/accept.js';
import type { Expected } from '../request/decode-object.js';
import { plainRepresentation, type ViewOptions } from '../request/representation.js';
import { encodeObject, encodeValue } from './encode-object.js';

/** Responds with one object. */
export function sendObject(
  context: RequestContext,
  served: ServedResource,
  statusCode: number,
  entry: Entry,
  view: ViewOptions,
): void {
  const contentType = contentTypeOf(view.representation.format);
  sendBody(context, statusCode, contentType, encodeObject(served, entry, view));
}

/** Responds with an object that is not stored, in the version of `type`. */
export function sendUnstored<T extends ApiObject>(
  context: RequestContext,
  statusCode: number,
  type: Pick<Expected, 'apiVersion' | 'kind'> & { readonly codec: Pick<Codec<T>, 'toProtobuf'> },
  object: T,
): void {
  const { apiVersion, kind, codec } = type;
  const representation = plainRepresentation(context);
  const body =
    representation.format === 'protobuf'
      ? wrapUnknown(apiVersion, kind, codec.toProtobuf(object))
      : encodeValue({ ...object, kind, apiVersion }, representation);
  sendBody(context, statusCode, contentTypeOf(representation.format), body);
}

/** The body of a request with its format, and the object in it. */
import type { ApiObject } from '@orch/api';
import type { RequestContext } from '../http/request-context.js';
import type { Format } from './accept.js';
import { bodyFormat } from './body-format.js';
import { decodeBody, type Expected } from './decode-object.js';
import { fieldCheck } from './field-validation.js';
import { readBody } from './read-body.js';

export interface SentBody {
  readonly bytes: Buffer;
  readonly format: Format;
}

/** Throws 415 before the body is read; 400, 413 and 504 while it is. */
export async function readSentBody(context: RequestContext): Promise<SentBody> {
  const format = bodyFormat(context.request.headers['content-type']);
  return { bytes: await readBody(context), format };
}

/** The object in the body, its unknown fields handled as the client wants. Throws 400. */
export function decodeSent(
  context: RequestContext,
  { bytes, format }: SentBody,
  expected: Expected,
): ApiObject {
  return decodeBody(bytes, format, expected, fieldCheck(context));
}

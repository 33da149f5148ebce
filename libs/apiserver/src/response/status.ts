/** Status objects as answers: the outcome of a delete, and every failure. */
import { codecFor, internalError, type Status, StatusError, wrapUnknown } from '@orch/apimachinery';
import { ExpiredContinueError } from '../registry/list.js';
import { statusOfStoreError } from '../registry/store-errors.js';
import { contentTypeOf, plainJson, type Representation } from '../request/media-types.js';
import { encodeValue } from './encode-object.js';
import { type Exchange, isCutOff, sendBody } from './exchange.js';

/** A success carries no code of its own. */
export type AnyStatus = Status | (Omit<Status, 'code'> & { readonly code?: number });

export function sendStatus(
  exchange: Exchange,
  statusCode: number,
  { format, pretty }: Representation,
  status: AnyStatus,
): void {
  exchange.audit?.answeredStatus(status);
  const body =
    format === 'protobuf'
      ? wrapUnknown('v1', 'Status', codecFor<AnyStatus>('meta/v1.Status').toProtobuf(status))
      : encodeValue(status, { ...plainJson, format, pretty });
  sendBody(exchange, statusCode, contentTypeOf(format), body);
}

/** What an error is to a client; anything unexpected becomes 500. */
export function failureOf(error: unknown): StatusError {
  const known = statusOfStoreError(error);
  if (known instanceof StatusError) return known;
  return internalError(known instanceof Error ? known.message : String(known));
}

/** Answers with a failure in the representation the client wants, as far as that is known. */
export function sendFailure(
  exchange: Exchange,
  failure: StatusError,
  representation: Representation,
): void {
  const seconds = failure.retryAfterSeconds;
  if (seconds !== undefined && !mayHaveCreated(exchange, failure)) {
    exchange.headers['retry-after'] = String(seconds);
  }
  if (failure.code === 403) exchange.headers['x-content-type-options'] = 'nosniff';
  const status =
    failure instanceof ExpiredContinueError
      ? {
          ...failure.status,
          metadata: { continue: failure.token } as unknown as Status['metadata'],
        }
      : failure.status;
  sendStatus(exchange, failure.code, representation, status);
}

const overloadText = Buffer.from('Too many requests, please try again later.\n');
const overloadRetrySeconds = '1';

/** Turns a request away, in as few words as the interface has for it. */
export function sendOverload(exchange: Exchange): void {
  if (isCutOff(exchange.response)) return;
  exchange.headers['retry-after'] = overloadRetrySeconds;
  exchange.headers['x-content-type-options'] = 'nosniff';
  sendBody(exchange, 429, 'text/plain; charset=utf-8', overloadText);
}

/**
 * Stock clients repeat any request that is answered with this header. A creation whose outcome is unknown
 * may have happened: whoever repeats it has to look first, so that only the body tells of a later try.
 */
function mayHaveCreated({ request }: Exchange, failure: StatusError): boolean {
  return request.method === 'POST' && failure.code === 504;
}

/** Status objects as responses: the result of a delete, and every failure. */
import { codecFor, internalError, StatusError, wrapUnknown } from '@orch/apimachinery';
import { ExpiredContinueError, statusOfStoreError } from '@orch/registry';
import type { AnyStatus } from '../http/audit-sink.js';
import type { RequestContext } from '../http/request-context.js';
import { isClosed, sendBody } from '../http/respond.js';
import { contentTypeOf, plainJson, type Representation } from '../request/accept.js';
import { encodeValue } from './encode-object.js';

export function sendStatus(
  context: RequestContext,
  statusCode: number,
  { format, pretty }: Representation,
  status: AnyStatus,
): void {
  context.audit?.respondedStatus(status);
  const body =
    format === 'protobuf'
      ? wrapUnknown('v1', 'Status', codecFor<AnyStatus>('meta/v1.Status').toProtobuf(status))
      : encodeValue(status, { ...plainJson, format, pretty });
  sendBody(context, statusCode, contentTypeOf(format), body);
}

/** The error that the client gets; an unexpected error becomes 500. */
export function failureOf(error: unknown): StatusError {
  const status = statusOfStoreError(error);
  if (status instanceof StatusError) return status;
  return internalError(status instanceof Error ? status.message : String(status));
}

/** Responds with a failure in the given representation. */
export function sendFailure(
  context: RequestContext,
  failure: StatusError,
  representation: Representation,
): void {
  const seconds = failure.retryAfterSeconds;
  if (seconds !== undefined && !mayHaveCreated(context, failure)) {
    context.headers['retry-after'] = String(seconds);
  }
  const status =
    failure instanceof ExpiredContinueError
      ? {
          ...failure.status,
          metadata: { continue: failure.token },
        }
      : failure.status;
  sendStatus(context, failure.code, representation, status);
}

const overloadText = Buffer.from('Too many requests, please try again later.\n');
const overloadRetrySeconds = '1';

/** Rejects a request with 429, in the plain text that clients expect. */
export function sendOverload(context: RequestContext): void {
  if (isClosed(context.response)) return;
  context.headers['retry-after'] = overloadRetrySeconds;
  sendBody(context, 429, 'text/plain; charset=utf-8', overloadText);
}

const timeoutText = Buffer.from(
  `${JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: 'Timeout: request did not complete within the allotted timeout',
    reason: 'Timeout',
    details: {},
    code: 504,
  })}\n`,
);

/** The client's own time limit has passed; the response is the text that clients expect. */
export function sendRequestTimeout(context: RequestContext): void {
  sendBody(context, 504, 'text/plain; charset=utf-8', timeoutText);
}

/**
 * Clients retry every request whose response has a Retry-After header. A create whose outcome is
 * unknown may have succeeded, so a client must read first: only the body then carries the delay.
 */
function mayHaveCreated({ request }: RequestContext, failure: StatusError): boolean {
  return request.method === 'POST' && failure.code === 504;
}

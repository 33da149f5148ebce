/**
 * The outermost filter: turns every error into a Status, releases the seat of the request and
 * accounts for it when its response ends. Never rejects.
 */
import { StatusError } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import { statusOfStoreError } from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';
import { abort, isClosed } from '../http/respond.js';
import { negotiate, plainJson, type Representation } from '../request/accept.js';
import { failureOf, sendFailure, sendRequestTimeout } from '../response/status.js';
import type { Filter } from './filter.js';

const gatewayTimeout = 504;

export function account(logger: Logger): Filter {
  return (next) => async (context) => {
    // The parser first reads the rest of the bytes that arrived with the head. If they are
    // malformed, the client gets 400 and no response of a filter or handler.
    await undefined;
    try {
      await next(context);
    } catch (error) {
      fail(context, error, logger);
    }
    context.releaseSeat();
    finish(context);
  };
}

function fail(context: RequestContext, error: unknown, logger: Logger): void {
  const { request, response, audit, recorder } = context;
  const failure = failureOf(error);
  const isExpected = error instanceof StatusError && failure.code < 500;
  if (!(statusOfStoreError(error) instanceof StatusError)) audit?.panicked();
  if (!isExpected) logger.warn({ err: error, path: request.url }, 'request failed');
  if (failure.code === gatewayTimeout) recorder?.terminated(String(failure.code));
  if (isClosed(response)) return;
  // A response that has started cannot be replaced.
  if (response.headersSent) abort(context);
  else if (isOverdue(context) && failure.code >= 500) sendRequestTimeout(context);
  else sendFailure(context, failure, failureRepresentation(context));
}

/** The time that the client allowed has passed. */
function isOverdue({ hasClientTimeout, deadlineMs, options }: RequestContext): boolean {
  return hasClientTimeout && options.clock.monotonicMs() >= deadlineMs;
}

/** The format that the client wants, or JSON if it accepts none that the server has. */
function failureRepresentation({ request }: RequestContext): Representation {
  try {
    const wanted = negotiate(request.headers.accept, { views: true, stream: false });
    return { ...plainJson, format: wanted.format };
  } catch (error) {
    if (error instanceof StatusError) return plainJson;
    throw error;
  }
}

/** Counts the request when its response ends. */
function finish(context: RequestContext): void {
  const { response, upgrade, audit } = context;
  // An upgraded connection no longer belongs to its response.
  const carrier = upgrade?.socket ?? response;
  if (response.headersSent || upgrade) audit?.started(response.statusCode);
  if (context.streaming && !(upgrade?.socket.destroyed ?? isClosed(response))) {
    carrier.once('close', () => ended(context));
  } else ended(context);
}

function ended(context: RequestContext): void {
  const { recorder, audit, response, options, startMs } = context;
  if (!recorder) return;
  if (context.isCounted) recorder.longRunning(-1);
  audit?.completed(response.statusCode);
  recorder.finished(context, (options.clock.monotonicMs() - startMs) / 1_000);
}

/**
 * Forwards an authorized request to an aggregated API server. The seat of the request is released
 * before, because an aggregated server that hangs must not slow down requests to others; the
 * requests in flight to one server have a limit of their own.
 */
import { errorMessage } from '@orch/component';
import { StoreError } from '@orch/store';
import type { RequestContext } from '../http/request-context.js';
import { abort, isClosed } from '../http/respond.js';
import { aggregatedDiscoveryTimeoutMs, watchDurationMsMax } from '../limits.js';
import { authorityOf, forward, type Target } from '../proxy/forward.js';
import { sendPlainText } from '../response/error-text.js';
import { sendRequestTimeout } from '../response/status.js';
import { ServiceAddressError } from '../webhooks/service-resolver.js';
import type { AggregatedServer } from './aggregated-server.js';
import { forwardedHeaders } from './forwarded-request.js';

/** The server cannot be reached, or its response is not HTTP. */
class UnreachableServerError extends Error {
  override readonly name = 'UnreachableServerError';
}

export function sendServiceUnavailable(context: RequestContext): void {
  sendPlainText(context, 503, 'service unavailable\n');
}

/** Sends the server's response. Throws 429 if too many requests to it are in flight. */
export async function forwardToServer(
  context: RequestContext,
  server: AggregatedServer,
): Promise<void> {
  if (!server.isAvailable) return sendServiceUnavailable(context);
  const leave = server.enter(context.isLongRunning);
  const ending = new AbortController();
  const { clock } = context.options;
  const timer = context.isLongRunning
    ? undefined
    : clock.setTimer(context.timeLeftMs, () => ending.abort());
  try {
    const target = await targetOf(context, server, ending.signal);
    if (!target) return sendServiceUnavailable(context);
    context.releaseSeat();
    await forward(context, target);
  } catch (error) {
    if (!(error instanceof UnreachableServerError)) throw error;
    sendUnreachable(context, ending.signal, error.message);
  } finally {
    timer?.cancel();
    leave();
  }
}

/** Undefined: the service has no address. */
async function targetOf(
  context: RequestContext,
  server: AggregatedServer,
  signal: AbortSignal,
): Promise<Target | undefined> {
  const { info, query, request, user, upgrade } = context;
  let address: { readonly host: string; readonly port: number };
  try {
    address = await server.resolve(context.timeLeftMs);
  } catch (error) {
    if (error instanceof ServiceAddressError || error instanceof StoreError) return undefined;
    throw error;
  }
  const headers = forwardedHeaders(request.headers, {
    isIdentityHeader: server.isIdentityHeader,
    user,
    clientAddress: request.socket?.remoteAddress ?? '',
    authority: authorityOf(address),
    path: info.path,
    upgrade: upgrade ? (request.headers.upgrade ?? '') : undefined,
  });
  return {
    ...address,
    scheme: 'https',
    path: query.isEmpty ? info.path : `${info.path}?${query.toString()}`,
    agent: poolOf(server),
    headers,
    signal,
    headTimeoutMs: headTimeoutMs(context),
    unreachable: (reason) => new UnreachableServerError(reason),
  };
}

function poolOf(server: AggregatedServer): ReturnType<AggregatedServer['pool']> {
  try {
    return server.pool(true);
  } catch (error) {
    throw new UnreachableServerError(errorMessage(error));
  }
}

/** Short: clients wait for the discovery documents of all groups. */
function headTimeoutMs({ info, isLongRunning, timeLeftMs }: RequestContext): number {
  if (isLongRunning) return watchDurationMsMax;
  return info.isResource ? timeLeftMs : Math.min(timeLeftMs, aggregatedDiscoveryTimeoutMs);
}

function sendUnreachable(context: RequestContext, deadline: AbortSignal, reason: string): void {
  if (isClosed(context.response)) return;
  if (context.response.headersSent) {
    abort(context);
  } else if (deadline.aborted) {
    context.recorder?.terminated('504');
    sendRequestTimeout(context);
  } else {
    sendPlainText(context, 503, `error trying to reach service: ${reason}\n`);
  }
}

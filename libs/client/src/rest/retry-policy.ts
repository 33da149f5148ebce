/**
 * Which failed requests are sent again, and when. Only where it is safe: the request was not sent, the
 * server said that it did not act and when to come back, or nothing changes by asking twice.
 */
import { limits } from '../limits.js';
import { ApiError } from './api-error.js';
import { TransportError } from './transport-error.js';

const baseDelayMs = 50;
/** A server that comes back is to be found soon. */
const maxDelayMs = 1_000;

/** @returns the delay before the next attempt, or undefined when the error is final. */
export function retryDelayMs(
  method: string,
  error: unknown,
  attemptCount: number,
  random: () => number,
): number | undefined {
  if (attemptCount >= limits.attemptCountMax) return undefined;
  const isRead = method === 'GET' || method === 'HEAD';
  if (error instanceof TransportError) {
    const retryable = error.code === 'connect_failed' || error.code === 'connection_lost';
    if (!retryable || (error.requestSent && !isRead)) return undefined;
    return backoffMs(attemptCount, random);
  }
  if (!(error instanceof ApiError)) return undefined;
  const retryAfterSeconds = error.details.retryAfterSeconds;
  if (retryAfterSeconds === undefined || retryAfterSeconds < 0) return undefined;
  const told =
    error.statusCode === 429 ||
    error.statusCode === 503 ||
    (isRead && (error.statusCode === 500 || error.statusCode === 504));
  if (!told) return undefined;
  const toldMs = retryAfterSeconds * 1000 * (1 + 0.2 * random());
  return Math.min(limits.retryDelayMsMax, Math.max(toldMs, backoffMs(attemptCount, random)));
}

/** Whether the next attempt should go to another server. */
export function shouldMoveOn(error: unknown): boolean {
  if (error instanceof TransportError) {
    return error.code !== 'response_too_large' && error.code !== 'throttled';
  }
  return error instanceof ApiError && error.statusCode === 503;
}

/** Whether the server seems not to be there at all. */
export function isSilence(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  return error.code === 'timeout' || error.code === 'connect_failed';
}

function backoffMs(attemptCount: number, random: () => number): number {
  return Math.min(maxDelayMs, baseDelayMs * 2 ** (attemptCount - 1)) * (0.5 + random());
}

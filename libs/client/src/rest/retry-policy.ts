/**
 * Decides which failed requests are retried, and when. Retries only where it is safe: the request
 * was not sent, the server rejected it with a Retry-After, or it is a read. The error of a write
 * with an unknown outcome says so, and the caller decides whether to repeat it.
 */
import { backoffMs } from '@orch/component';
import { limits } from '../limits.js';
import { ApiError } from './api-error.js';
import { TransportError } from './transport-error.js';

const initialDelayMs = 50;
/** Short, so that a server that recovers is found soon. */
const maxDelayMs = 1_000;

export interface FailedAttempt {
  readonly method: string;
  readonly error: unknown;
  /** Including this one. */
  readonly attemptCount: number;
  /** Servers that can take over from each other. */
  readonly serverCount: number;
}

/**
 * @returns how long the failed server rests before the request is retried, there or on another
 *   server; undefined if the error is final.
 */
export function retryDelayMs(
  { method, error, attemptCount, serverCount }: FailedAttempt,
  random: () => number,
): number | undefined {
  if (attemptCount >= limits.attemptCountMax * serverCount) return undefined;
  const delayMs = backoffMs(Math.ceil(attemptCount / serverCount), {
    initialMs: initialDelayMs,
    maxMs: maxDelayMs,
    factor: 2,
    jitter: 0.5,
    random,
  });
  const isRead = method === 'GET' || method === 'HEAD';
  if (error instanceof TransportError) {
    const retryable = error.code === 'connect_failed' || error.code === 'connection_lost';
    return retryable && (isRead || !error.requestSent) ? delayMs : undefined;
  }
  if (!(error instanceof ApiError)) return undefined;
  const retryAfterSeconds = error.details.retryAfterSeconds;
  const hasRetryAfter = retryAfterSeconds !== undefined && retryAfterSeconds >= 0;
  if (hasRetryAfter && mayRepeat(error.statusCode, isRead)) {
    const retryAfterMs = retryAfterSeconds * 1000 * (1 + 0.2 * random());
    return Math.min(limits.retryDelayMsMax, Math.max(retryAfterMs, delayMs));
  }
  // Another server may succeed immediately.
  return isRead && serverCount > 1 && shouldMoveOn(error) ? delayMs : undefined;
}

function mayRepeat(statusCode: number, isRead: boolean): boolean {
  if (statusCode === 429 || statusCode === 503) return true;
  return isRead && (statusCode === 500 || statusCode === 504);
}

/** Whether later requests should go to another server. */
export function shouldMoveOn(error: unknown): boolean {
  if (error instanceof TransportError) {
    const { code } = error;
    return code === 'connect_failed' || code === 'connection_lost' || code === 'timeout';
  }
  // Not ready, or behind and not catching up.
  return error instanceof ApiError && (error.statusCode === 503 || error.statusCode === 504);
}

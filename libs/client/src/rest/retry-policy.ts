/**
 * Which failed requests are sent again, and when. Only where it is safe: the request was not sent, the
 * server said that it did not act and when to come back, or nothing changes by asking twice. Whoever may
 * have written is told so; whether to repeat that is the caller's decision.
 */
import { limits } from '../limits.js';
import { ApiError } from './api-error.js';
import { TransportError } from './transport-error.js';

const baseDelayMs = 50;
/** A server that comes back is to be found soon. */
const maxDelayMs = 1_000;

export interface FailedAttempt {
  readonly method: string;
  readonly error: unknown;
  /** This one included. */
  readonly attemptCount: number;
  /** Servers that stand in for each other. */
  readonly serverCount: number;
}

/**
 * @returns how long the server that failed is to be left alone before the request is sent again, there
 *   or to another server, or undefined when the error is final.
 */
export function retryDelayMs(
  { method, error, attemptCount, serverCount }: FailedAttempt,
  random: () => number,
): number | undefined {
  if (attemptCount >= limits.attemptCountMax * serverCount) return undefined;
  const delayMs = backoffMs(Math.ceil(attemptCount / serverCount), random);
  const isRead = method === 'GET' || method === 'HEAD';
  if (error instanceof TransportError) {
    const retryable = error.code === 'connect_failed' || error.code === 'connection_lost';
    return retryable && (isRead || !error.requestSent) ? delayMs : undefined;
  }
  if (!(error instanceof ApiError)) return undefined;
  const retryAfterSeconds = error.details.retryAfterSeconds;
  const isTold = retryAfterSeconds !== undefined && retryAfterSeconds >= 0;
  if (isTold && mayRepeat(error.statusCode, isRead)) {
    const toldMs = retryAfterSeconds * 1000 * (1 + 0.2 * random());
    return Math.min(limits.retryDelayMsMax, Math.max(toldMs, delayMs));
  }
  // Another server may know better at once.
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

function backoffMs(attemptCount: number, random: () => number): number {
  return Math.min(maxDelayMs, baseDelayMs * 2 ** (attemptCount - 1)) * (0.5 + random());
}

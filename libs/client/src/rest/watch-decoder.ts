/** Decodes the events of a watch: one JSON document a line. */
import { limits } from '../limits.js';
import type { ApiObject, WatchEvent } from '../objects.js';
import { ApiError, fromStatus, type StatusBody } from './api-error.js';
import type { StreamResponse } from './rest-types.js';
import { TransportError } from './transport-error.js';

const newline = 0x0a;

/**
 * Whether the connection of a watch was lost or its server is no longer ready. The watch can resume
 * at the same version, on this server or another.
 */
export function isWatchInterrupted(error: unknown): boolean {
  if (error instanceof TransportError) return error.code === 'connection_lost';
  return error instanceof ApiError && error.statusCode === 503;
}

/**
 * Opens a watch at the first use and yields its events. Throws `ApiError` on an ERROR event and
 * `TransportError` on a malformed event.
 */
export async function* decodeWatch<T extends ApiObject>(
  open: () => Promise<StreamResponse>,
): AsyncIterable<WatchEvent<T>> {
  const { body } = await open();
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const bytes of body) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      pending.push(chunk.subarray(start, end));
      start = end + 1;
      const line = (pending.length === 1 ? pending[0]! : Buffer.concat(pending)).toString('utf8');
      pending = [];
      pendingBytes = 0;
      if (line.trim() !== '') yield parseEvent<T>(line);
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > limits.watchEventBytesMax) {
        throw new TransportError('response_too_large', 'a watch event is too large', true);
      }
    }
  }
  // An incomplete last line is discarded: the watch resumes before it.
}

function parseEvent<T>(line: string): WatchEvent<T> {
  let event: { type?: string; object?: unknown };
  try {
    event = JSON.parse(line) as { type?: string; object?: unknown };
  } catch (cause) {
    throw new TransportError('malformed_response', 'a watch event is not JSON', true, { cause });
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return event as WatchEvent<T>;
    case 'ERROR':
      throw fromStatus(event.object as StatusBody);
    default:
      throw new TransportError('malformed_response', 'a watch event has no known type', true);
  }
}

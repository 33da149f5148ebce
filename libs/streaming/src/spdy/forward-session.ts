/**
 * The server side of port-forward over SPDY: a connection consists of a data stream and an error
 * stream with the same request id.
 */
import { errorMessage } from '@orch/component';
import { type Forward, parsePort } from '../forwarding.js';
import { streamCreationTimeoutMs } from '../limits.js';
import type { SpdySession } from './session.js';
import type { SpdyStream } from './stream.js';

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
  readonly timer: NodeJS.Timeout;
}

/** Serves the connections of the session. Resolves when the session has ended. */
export function serveForwardSession(session: SpdySession, forward: Forward): Promise<void> {
  const pairs = new Map<string, Pair>();
  const closed = new AbortController();
  const drop = (id: string) => {
    const pair = pairs.get(id);
    clearTimeout(pair?.timer);
    pairs.delete(id);
    return pair;
  };
  session.on('stream', (stream) => {
    const { streamtype: type, port: portText } = stream.headers;
    const port = parsePort(portText);
    if (port === undefined || (type !== 'data' && type !== 'error')) {
      stream.destroy();
      return;
    }
    const id = requestId(stream, type);
    let pair = pairs.get(id);
    if (!pair) {
      const timer = setTimeout(() => {
        const late = drop(id);
        late?.data?.destroy();
        late?.error?.destroy();
      }, streamCreationTimeoutMs);
      pair = { timer };
      pairs.set(id, pair);
    }
    if (pair[type]) {
      stream.destroy();
      return;
    }
    pair[type] = stream;
    if (!pair.data || !pair.error) return;
    drop(id);
    void serveConnection(pair.data, pair.error, port, forward, closed.signal);
  });
  return new Promise((resolve) => {
    session.once('close', () => {
      closed.abort();
      for (const id of [...pairs.keys()]) drop(id);
      resolve();
    });
  });
}

/**
 * Returns the request id. Old clients send none; their data stream directly follows the error
 * stream.
 */
function requestId({ id, headers }: SpdyStream, type: 'data' | 'error'): string {
  return headers.requestid ?? `stream ${type === 'error' ? id : id - 2}`;
}

async function serveConnection(
  data: SpdyStream,
  error: SpdyStream,
  port: number,
  forward: Forward,
  signal: AbortSignal,
): Promise<void> {
  // The client ends its half immediately; it must be read for the end to be noticed.
  error.resume();
  try {
    await forward({ port, data, error }, signal);
    error.end();
  } catch (cause) {
    error.end(errorMessage(cause));
    data.end();
    data.resume();
  }
}

/**
 * The server's side of port-forward over SPDY: each connection is a pair of streams, one for its bytes
 * and one for its error, which carry the same request id.
 */
import { type Forward, parsePort } from '../forwarding.js';
import { streamCreationTimeoutMs } from '../limits.js';
import type { SpdySession } from './session.js';
import type { SpdyStream } from './stream.js';

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
  readonly timer: NodeJS.Timeout;
}

/** Resolves when the session has ended. */
export function serveForwardSession(session: SpdySession, forward: Forward): Promise<void> {
  const pairs = new Map<string, Pair>();
  const gone = new AbortController();
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
    void join(pair.data, pair.error, port, forward, gone.signal);
  });
  return new Promise((resolve) => {
    session.once('close', () => {
      gone.abort();
      for (const id of [...pairs.keys()]) drop(id);
      resolve();
    });
  });
}

/** Clients of old give none: their data stream follows its error stream at once. */
function requestId({ id, headers }: SpdyStream, type: 'data' | 'error'): string {
  return headers.requestid ?? `stream ${type === 'error' ? id : id - 2}`;
}

async function join(
  data: SpdyStream,
  error: SpdyStream,
  port: number,
  forward: Forward,
  signal: AbortSignal,
): Promise<void> {
  // The client ends its half at once; without a reader it would never be seen.
  error.resume();
  try {
    await forward({ port, data, error }, signal);
    error.end();
  } catch (cause) {
    error.end((cause as Error).message);
    data.end();
    data.resume();
  }
}

/** Watches over HTTP/2: connections that a hundred watches share, and the lines of a stream. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { adminToken } from './server-client.js';

const watchesPerConnection = 100;

interface Connection {
  readonly url: string;
  readonly session: ClientHttp2Session;
  streamCount: number;
}

export class WatchConnections {
  private connections: Connection[] = [];

  constructor(private readonly authorityPem: string) {}

  /** The stream closes if the server is unreachable. */
  open(url: string, path: string): ClientHttp2Stream {
    this.connections = this.connections.filter(({ session }) => !session.destroyed);
    const connection = this.connections.find(hasRoom(url)) ?? this.connect(url);
    connection.streamCount += 1;
    const stream = connection.session.request({
      ':path': path,
      authorization: `Bearer ${adminToken}`,
    });
    stream.once('close', () => {
      connection.streamCount -= 1;
    });
    return stream;
  }

  close(): void {
    for (const { session } of this.connections) session.destroy();
  }

  private connect(url: string): Connection {
    const session = connect(url, { ca: this.authorityPem });
    // Its streams report the error.
    session.on('error', () => undefined);
    const connection = { url, session, streamCount: 0 };
    this.connections.push(connection);
    return connection;
  }
}

function hasRoom(wanted: string): (connection: Connection) => boolean {
  return ({ url, session, streamCount }) =>
    url === wanted && streamCount < watchesPerConnection && !session.closed;
}

/** Calls `onLine` for every complete line that arrives. */
export function readLines(stream: ClientHttp2Stream, take: (line: string) => void): void {
  const decoder = new TextDecoder();
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

export type WatchLine =
  | { readonly kind: 'event' | 'bookmark'; readonly revision: number }
  | { readonly kind: 'error'; readonly code: number; readonly text: string };

const revisionPattern = /"resourceVersion":"(\d+)"/;
const codePattern = /"code":(\d+)/;

/**
 * Parses only the revision of an event, because parsing ten thousand copies of it is too costly for
 * one process. A line that is neither event nor error is an error with code 0.
 */
export function watchLine(line: string): WatchLine {
  const revision = Number(revisionPattern.exec(line)?.[1] ?? 0);
  if (line.startsWith('{"type":"ERROR"') || revision === 0) {
    return { kind: 'error', code: Number(codePattern.exec(line)?.[1] ?? 0), text: line };
  }
  return { kind: line.startsWith('{"type":"BOOKMARK"') ? 'bookmark' : 'event', revision };
}

/**
 * Thousands of watches over HTTP/2 connections, a hundred each. Each keeps no more than the revisions of its
 * events; slow ones do not read until they are told to, on connections of their own, since the windows of
 * a connection are shared.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { collectionPath } from '../load/keys.js';
import type { ChaosCluster } from './chaos-cluster.js';
import { adminToken } from './server-client.js';

const watchesPerConnection = 100;

export interface SwarmWatch {
  /** Revisions of its events, of one kind, in order of arrival. */
  readonly revisions: number[];
  /** Why and when it ended, if it did. */
  end: string | undefined;
  status: number;
  resume(): void;
}

export class WatchSwarm {
  readonly watches: SwarmWatch[] = [];
  private readonly sessions: ClientHttp2Session[] = [];

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly resource: string,
  ) {}

  /** Opens so many, spread over all servers. */
  open(count: number, isSlow: boolean, afterRevision: number): void {
    const servers = this.cluster.answering();
    let session: ClientHttp2Session | undefined;
    for (let at = 0; at < count; at += 1) {
      if (at % watchesPerConnection === 0) {
        const { url } = servers[(at / watchesPerConnection) % servers.length]!;
        session = connect(url, { ca: this.cluster.certificates.authorityPem });
        // Its streams tell what became of it.
        session.on('error', () => undefined);
        this.sessions.push(session);
      }
      const stream = session!.request({
        ':path': `${collectionPath(this.resource)}?watch=true&resourceVersion=${afterRevision}`,
        authorization: `Bearer ${adminToken}`,
      });
      this.watches.push(follow(stream, isSlow));
    }
  }

  get openCount(): number {
    return this.watches.filter(({ status, end }) => status === 200 && end === undefined).length;
  }

  close(): void {
    for (const session of this.sessions) session.destroy();
  }
}

function follow(stream: ClientHttp2Stream, isSlow: boolean): SwarmWatch {
  const decoder = new TextDecoder();
  let rest = '';
  const read = () => {
    stream.on('data', (chunk: Buffer) => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(watch, line);
    });
  };
  const watch: SwarmWatch = {
    revisions: [],
    end: undefined,
    status: 0,
    resume: read,
  };
  stream.on('response', (headers) => {
    watch.status = Number(headers[':status']);
  });
  stream.on('error', (error) => {
    watch.end ??= error.message;
  });
  stream.on('close', () => {
    watch.end ??= 'closed';
  });
  if (!isSlow) read();
  return watch;
}

/** Of an event only its own revision is of interest; parsing ten thousand copies of it is not. */
const revisionPattern = /"resourceVersion":"(\d+)"/;

function take(watch: SwarmWatch, line: string): void {
  if (line.startsWith('{"type":"ERROR"')) {
    watch.end ??= line.slice(0, 300);
    return;
  }
  const revision = revisionPattern.exec(line)?.[1];
  if (revision !== undefined && !line.startsWith('{"type":"BOOKMARK"')) {
    watch.revisions.push(Number(revision));
  }
}

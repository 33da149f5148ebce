/**
 * Thousands of watches that are opened once and do not resume. Each stores only the revisions of
 * its events. Slow ones do not read until they are started; they need a separate swarm, because
 * watches share the window of a connection.
 */
import type { ClientHttp2Stream } from 'node:http2';
import { collectionPath } from '../load/keys.js';
import type { ChaosCluster } from './chaos-cluster.js';
import { readLines, WatchConnections, watchLine } from './watch-connections.js';

export interface SwarmWatch {
  /** Revisions of its events, of one kind, in order of arrival. */
  readonly revisions: number[];
  /** Reason and time of its end. */
  end: string | undefined;
  status: number;
  resume(): void;
}

export class WatchSwarm {
  readonly watches: SwarmWatch[] = [];
  private readonly connections: WatchConnections;

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly resource: string,
  ) {
    this.connections = new WatchConnections(cluster.certificates.authorityPem);
  }

  /** Opens this many watches, spread over all servers. */
  open(count: number, isSlow: boolean, afterRevision: number): void {
    const servers = this.cluster.responsive();
    const path = `${collectionPath(this.resource)}?watch=true&resourceVersion=${afterRevision}`;
    for (let at = 0; at < count; at += 1) {
      const { url } = servers[at % servers.length]!;
      this.watches.push(follow(this.connections.open(url, path), isSlow));
    }
  }

  get openCount(): number {
    return this.watches.filter(({ status, end }) => status === 200 && end === undefined).length;
  }

  close(): void {
    this.connections.close();
  }
}

function follow(stream: ClientHttp2Stream, isSlow: boolean): SwarmWatch {
  const watch: SwarmWatch = {
    revisions: [],
    end: undefined,
    status: 0,
    resume: () => readLines(stream, (line) => take(watch, line)),
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
  if (!isSlow) watch.resume();
  return watch;
}

function take(watch: SwarmWatch, text: string): void {
  const line = watchLine(text);
  if (line.kind === 'error') watch.end ??= line.text;
  else if (line.kind === 'event') watch.revisions.push(line.revision);
}

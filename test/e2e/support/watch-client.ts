/**
 * A watch of a careful client: every line is an event, and whenever the stream ends, it resumes
 * from the last version. Over HTTP/1.1, or over HTTP/2 with a connection for each stream.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Cluster } from './cluster.js';
import { eventually } from './wait.js';

export interface WatchedObject {
  kind: string;
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string>;
    namespace: string;
  };
  data?: Record<string, string>;
}

export interface Event {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: WatchedObject & { code?: number; reason?: string };
}

export interface WatchTarget {
  /** Path of a collection. */
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly http2?: boolean;
}

interface Stream {
  readonly status: number;
  readonly body: Readable;
  close(): void;
}

function openHttp1(cluster: Cluster, path: string): Promise<Stream> {
  const { headers, ca } = credentials(cluster);
  return new Promise((done, fail) => {
    const sent = request(`${cluster.url}${path}`, { ca, headers, agent: false }, (answer) =>
      done({ status: answer.statusCode ?? 0, body: answer, close: () => sent.destroy() }),
    );
    sent.on('error', fail);
    sent.end();
  });
}

function openHttp2(cluster: Cluster, path: string): Promise<Stream> {
  const { headers, ca } = credentials(cluster);
  return new Promise((done, fail) => {
    const session = connect(cluster.url, { ca });
    session.on('error', fail);
    const stream = session.request({ ':path': path, ...headers });
    stream.on('error', fail);
    stream.on('close', () => {
      session.close();
      fail(new Error('the stream closed before its response'));
    });
    stream.on('response', (answer) =>
      done({
        status: Number(answer[':status']),
        body: stream,
        close: () => session.destroy(),
      }),
    );
  });
}

function credentials(cluster: Cluster) {
  return {
    ca: readFileSync(join(cluster.dataDirectory, 'ca.crt')),
    headers: { authorization: `Bearer ${cluster.token}` },
  };
}

export function openWatch(
  cluster: Cluster,
  { path, query, http2 }: WatchTarget,
  resourceVersion: string,
): Promise<Stream> {
  const all = new URLSearchParams({ ...query, watch: 'true', resourceVersion });
  return (http2 ? openHttp2 : openHttp1)(cluster, `${path}?${all}`);
}

export class WatchClient {
  /** All events except bookmarks and errors, in order of arrival. */
  readonly events: Event[] = [];
  readonly bookmarks: string[] = [];
  /** Refusals and ERROR events, after each of which it retries. */
  readonly refusals: string[] = [];
  streamCount = 0;
  private running = true;
  private stream: Stream | undefined;
  private readonly finished: Promise<void>;

  constructor(
    private readonly cluster: Cluster,
    private readonly target: WatchTarget,
    public resourceVersion: string,
  ) {
    this.finished = this.loop();
  }

  private async loop(): Promise<void> {
    while (this.running) {
      try {
        this.stream = await openWatch(this.cluster, this.target, this.resourceVersion);
        // Closes a stream that was opened while the watch was stopped.
        if (!this.running) break;
        this.streamCount += 1;
        await this.read(this.stream);
      } catch {
        // The server is unavailable or the stream broke, as the tests intend.
      }
      this.stream?.close();
      if (this.running) await new Promise((done) => setTimeout(done, 50));
    }
    this.stream?.close();
  }

  private async read({ status, body }: Stream): Promise<void> {
    let rest = '';
    body.setEncoding('utf8');
    for await (const chunk of body) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (status !== 200) this.refusals.push(lines.join('\n'));
      else for (const line of lines) this.take(JSON.parse(line));
    }
  }

  private take(event: Event): void {
    if (event.type === 'ERROR') {
      this.refusals.push(JSON.stringify(event.object));
      return;
    }
    this.resourceVersion = event.object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK') this.bookmarks.push(this.resourceVersion);
    else this.events.push(event);
  }

  /** Waits until it has received this version or a later one. */
  async reaches(resourceVersion: string): Promise<void> {
    await eventually(`a watch to reach ${resourceVersion}`, () => {
      return Number(this.resourceVersion) >= Number(resourceVersion);
    });
  }

  async stop(): Promise<void> {
    this.running = false;
    this.stream?.close();
    await this.finished;
  }
}

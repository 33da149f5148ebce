/**
 * One of many watches that resume like an informer when their streams end: from the last revision,
 * on another server. It stores only the revisions of its events. When history is gone, it ends and
 * counts a relist.
 */
import type { ClientHttp2Stream } from 'node:http2';
import { collectionPath } from '../load/keys.js';
import type { LoadTarget } from '../load/load-target.js';
import { readLines, type WatchConnections, watchLine } from './watch-connections.js';

const againMs = 50;
/** Status codes that a client retries. */
const retriable = [429, 503, 504];

export interface ResumingWatchOptions {
  readonly resource: string;
  readonly next: () => LoadTarget | undefined;
  /** Receives every response that no server may return. */
  readonly onUnexpected: (detail: string) => void;
}

export class ResumingWatch {
  /** Revisions of its events, in order of arrival, over all streams. */
  readonly revisions: number[] = [];
  streamCount = 0;
  relistCount = 0;
  private stream: ClientHttp2Stream | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running = true;

  constructor(
    private readonly connections: WatchConnections,
    readonly options: ResumingWatchOptions,
    /** Every event up to it was delivered, according to the last event or bookmark. */
    public revision: number,
  ) {
    this.open();
  }

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  stop(): void {
    this.running = false;
    clearTimeout(this.timer);
    this.stream?.close();
  }

  private open(): void {
    const target = this.options.next();
    if (!target) {
      this.again();
      return;
    }
    const { resource } = this.options;
    const path = `${collectionPath(resource)}?watch=true&allowWatchBookmarks=true&resourceVersion=${this.revision}`;
    const stream = this.connections.open(target.url, path);
    stream.on('response', (headers) => this.answered(stream, Number(headers[':status'])));
    // A fault or the end of its server: it resumes when the stream is closed.
    stream.on('error', () => undefined);
    stream.on('close', () => this.again());
  }

  private answered(stream: ClientHttp2Stream, status: number): void {
    if (status !== 200) {
      this.refused(status, `status ${status}`);
      stream.resume();
      return;
    }
    this.streamCount += 1;
    this.stream = stream;
    readLines(stream, (line) => this.take(line));
  }

  private take(text: string): void {
    const line = watchLine(text);
    if (line.kind === 'error') {
      this.refused(line.code, line.text);
      return;
    }
    this.revision = line.revision;
    if (line.kind === 'event') this.revisions.push(line.revision);
  }

  private refused(code: number, detail: string): void {
    if (retriable.includes(code)) return;
    this.running = false;
    if (code === 410) this.relistCount += 1;
    else this.options.onUnexpected(`watch of many: ${detail.slice(0, 300)}`);
  }

  private again(): void {
    this.stream = undefined;
    if (this.running) this.timer = setTimeout(() => this.open(), againMs);
  }
}

/**
 * One of many watches that go on wherever their streams end, as an informer does: from the revision that was
 * seen, at another server. It keeps no more than the revisions of its events. Told that history is gone,
 * it ends, and counts that.
 */
import type { ClientHttp2Stream } from 'node:http2';
import { collectionPath } from '../load/keys.js';
import type { LoadTarget } from '../load/load-client.js';
import { readLines, type WatchConnections, watchLine } from './watch-connections.js';

const againMs = 50;
/** What a server may answer that is not up to it: come again. */
const retriable = [429, 503, 504];

export interface ResumingWatchSettings {
  readonly resource: string;
  readonly next: () => LoadTarget | undefined;
  /** Told of every answer that no server should give. */
  readonly onOdd: (detail: string) => void;
}

export class ResumingWatch {
  /** Of its events, in order of arrival, over all streams. */
  readonly revisions: number[] = [];
  streamCount = 0;
  relistCount = 0;
  private stream: ClientHttp2Stream | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running = true;

  constructor(
    private readonly connections: WatchConnections,
    readonly settings: ResumingWatchSettings,
    /** Everything up to it was delivered, as the last event or bookmark says. */
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
    const target = this.settings.next();
    if (!target) {
      this.again();
      return;
    }
    const { resource } = this.settings;
    const path = `${collectionPath(resource)}?watch=true&allowWatchBookmarks=true&resourceVersion=${this.revision}`;
    const stream = this.connections.open(target.url, path);
    stream.on('response', (headers) => this.answered(stream, Number(headers[':status'])));
    // By a fault, or by its server's end: it goes on when it is closed.
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
    else this.settings.onOdd(`watch of many: ${detail.slice(0, 300)}`);
  }

  private again(): void {
    this.stream = undefined;
    if (this.running) this.timer = setTimeout(() => this.open(), againMs);
  }
}

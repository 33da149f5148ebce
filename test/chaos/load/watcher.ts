/**
 * A client that watches one kind and resumes from its last revision when a stream ends. A roaming
 * watcher resumes on another server each time, and also changes servers without a failure; a
 * stationary one is the witness of its server. When history is gone, it starts a new record from a
 * list.
 */
import { Agent, request } from 'undici';
import type { WatchRecord } from '../../history/history.js';
import { adminToken } from '../support/server-client.js';
import { sleep } from '../support/wait.js';
import { collectionPath, isLoadKey, type LoadList, type LoadObject, versionOf } from './keys.js';
import type { LoadTarget } from './load-target.js';
import type { Notes } from './notes.js';
import type { Selector } from './selectors.js';

/** Further data of an event for the checks: the uid of its object and its type. */
export interface EventFacts {
  readonly uid: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Content in the event; of a deletion, the last one. */
  readonly value: string;
}

export interface WatcherOptions {
  readonly id: string;
  readonly resource: string;
  /** Undefined: watches all objects. */
  readonly selector?: Selector | undefined;
  /** Returns the server to watch next. */
  readonly next: () => LoadTarget | undefined;
  /** Time after which it changes streams; undefined: never. */
  readonly leaveAfterMs?: () => number;
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: LoadObject & { readonly code?: number };
}

const againMs = 50;
const connectTimeoutMs = 3_000;
const firstByteTimeoutMs = 8_000;

export class Watcher {
  readonly records: WatchRecord[] = [];
  /** By `<key>@<revision>`. */
  readonly facts = new Map<string, EventFacts>();
  streams = 0;
  relists = 0;
  private revision = 0;
  private abort = new AbortController();
  private running = true;
  private finished: Promise<void> = Promise.resolve();
  private readonly agent: Agent;

  constructor(
    readonly options: WatcherOptions,
    authorityPem: string,
    private readonly notes: Notes,
  ) {
    this.agent = new Agent({ connect: { ca: authorityPem, timeout: connectTimeoutMs } });
  }

  get record(): WatchRecord {
    return this.records.at(-1)!;
  }

  /** Watches events after `afterRevision`. */
  start(afterRevision: number): void {
    this.begin(afterRevision);
    this.finished = this.loop();
  }

  get revisionSeen(): number {
    return this.revision;
  }

  /** Its present record has every event up to this revision. */
  hasReached(revision: number): boolean {
    return this.revision >= revision;
  }

  async stop(): Promise<void> {
    this.running = false;
    this.abort.abort();
    await this.finished;
    await this.agent.destroy();
  }

  private begin(afterRevision: number): void {
    this.revision = afterRevision;
    this.records.push({
      client: `${this.options.id}#${this.records.length}`,
      prefix: `${this.options.resource}/`,
      afterRevision,
      events: [],
      progress: afterRevision,
      ended: 'open',
    });
  }

  private path(url: string, query: Readonly<Record<string, string>> = {}): string {
    const { resource, selector } = this.options;
    const search = new URLSearchParams({
      ...query,
      ...(selector && { labelSelector: selector.text }),
    });
    return `${url}${collectionPath(resource)}?${search}`;
  }

  private async loop(): Promise<void> {
    while (this.running) {
      const target = this.options.next();
      if (target) await this.watch(target);
      if (this.running) await sleep(againMs);
    }
  }

  private async watch({ url }: LoadTarget): Promise<void> {
    const { leaveAfterMs } = this.options;
    this.abort = new AbortController();
    const leave = leaveAfterMs && setTimeout(() => this.abort.abort(), leaveAfterMs());
    const path = this.path(url, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: String(this.revision),
    });
    try {
      const { statusCode, body } = await request(path, {
        dispatcher: this.agent,
        headers: { authorization: `Bearer ${adminToken}` },
        headersTimeout: firstByteTimeoutMs,
        bodyTimeout: 0,
        signal: this.abort.signal,
      });
      if (statusCode !== 200) {
        const text = await body.text();
        if (statusCode === 410) await this.listAnew(url);
        else if (![429, 503, 504].includes(statusCode)) {
          this.notes.surprise(`watch of ${this.options.id}: ${statusCode} ${text.slice(0, 300)}`);
        }
        return;
      }
      this.streams += 1;
      if (await this.readAll(body)) await this.listAnew(url);
    } catch (error) {
      // After a fault or a change of streams it resumes. Only an invalid event fails without a
      // code.
      if (!('code' in (error as Error))) {
        this.notes.surprise(`watch of ${this.options.id}: ${String(error)}`);
      }
    } finally {
      clearTimeout(leave);
    }
  }

  /** Returns whether the server reported that history is gone. */
  private async readAll(body: AsyncIterable<Uint8Array>): Promise<boolean> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (this.take(JSON.parse(line) as WatchEvent)) return true;
    }
    return false;
  }

  private take({ type, object }: WatchEvent): boolean {
    const { record } = this;
    if (type === 'ERROR') {
      if (object.code === 410) return true;
      if (![429, 503, 504].includes(object.code ?? 0)) {
        this.notes.surprise(`watch of ${this.options.id}: ${JSON.stringify(object)}`);
      }
      return false;
    }
    if (type === 'BOOKMARK') {
      this.revision = Number(object.metadata.resourceVersion);
      record.events.push({ kind: 'bookmark', revision: this.revision });
      record.progress = this.revision;
      return false;
    }
    const { key, value, revision } = versionOf(this.options.resource, object);
    this.revision = revision;
    record.progress = revision;
    if (!isLoadKey(key)) return false;
    const isPut = type !== 'DELETED';
    record.events.push({
      kind: isPut ? 'put' : 'delete',
      key,
      value: isPut ? value : '',
      revision,
    });
    this.facts.set(`${key}@${revision}`, { uid: object.metadata.uid, type, value });
    return false;
  }

  private async listAnew(url: string): Promise<void> {
    this.record.ended = 'compacted';
    this.relists += 1;
    const answer = await request(this.path(url), {
      dispatcher: this.agent,
      headers: { authorization: `Bearer ${adminToken}` },
      signal: AbortSignal.any([this.abort.signal, AbortSignal.timeout(firstByteTimeoutMs)]),
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      return;
    }
    const list = (await answer.body.json()) as LoadList;
    this.begin(Number(list.metadata.resourceVersion));
  }
}

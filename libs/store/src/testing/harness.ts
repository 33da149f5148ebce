/** What a contract suite needs of an implementation, and small helpers for tests of a store. */
import type { Awaitable, Logger } from '@orch/component';
import type {
  CommitResult,
  Entry,
  ListResult,
  Operation,
  ReadConsistency,
  Revision,
  StoreError,
  VersionedStore,
  WatchEvent,
  WatchHandle,
} from '../versioned-store.js';

export interface StoreHarness {
  /** Opens the store (again) with all earlier commits. The store opened before must be stopped. */
  open(): Promise<VersionedStore>;
  /** Stops the open store and removes its files. */
  destroy(): Promise<void>;
}

export const waitMs = 5_000;

/** Logs warnings and errors only. */
export const quietLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (...fields: unknown[]) => console.error(...fields),
  fatal: () => undefined,
  child: () => quietLogger,
} as Logger;

export function object(text: string): { readonly bytes: Buffer; readonly revisionOffset: number } {
  return { bytes: Buffer.from(`{"rv":"","text":"${text}"}`), revisionOffset: 7 };
}

export function put(key: string, text: string): Operation {
  return { kind: 'put', key, ...object(text) };
}

export function objectAt(text: string, revision: number): string {
  return `{"rv":"${revision}","text":"${text}"}`;
}

export function read(consistency: ReadConsistency, timeoutMs = waitMs) {
  return { consistency, timeoutMs };
}

export const quorumRead = read({ kind: 'quorum' });

export function exact(revision: number) {
  return read({ kind: 'exact', revision: revision as Revision });
}

/** Commits and insists that it took effect. */
export async function commit(
  store: VersionedStore,
  ...operations: Operation[]
): Promise<CommitResult & { succeeded: true }> {
  const result = await store.commit(operations, waitMs);
  if (!result.succeeded) throw new Error(`operation ${result.failedOperation} failed`);
  return result;
}

export function show(entry: Entry | undefined): string {
  if (!entry) return '-';
  return `${entry.key}@${entry.createRevision}/${entry.revision} ${entry.bytes.toString()}`;
}

export function showList(list: ListResult): string[] {
  return list.entries.map(show);
}

export function showEvent(event: WatchEvent): string {
  return `${event.revision} ${event.kind} ${event.key} ${show(event.previous)} -> ${show(event.entry)}`;
}

/** Resolves once `condition` holds; rejects after `waitMs`. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const giveUpMs = performance.now() + waitMs;
  while (!condition()) {
    if (performance.now() > giveUpMs) throw new Error(`timed out after ${waitMs} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A watch that records all events and checks each call. */
export class WatchRecorder {
  readonly events: WatchEvent[] = [];
  ended: StoreError | undefined;
  readonly handle: WatchHandle;
  private lastRevision: number;

  constructor(store: VersionedStore, prefix: string, afterRevision: number) {
    this.lastRevision = afterRevision;
    this.handle = store.watch({
      prefix,
      afterRevision: afterRevision as Revision,
      onEvents: (events, revision) => this.note(events, revision),
      onEnd: (error) => {
        this.ended = error;
      },
    });
  }

  async reached(revision: number): Promise<this> {
    await until(() => this.handle.revision >= revision, `the watch has reached ${revision}`);
    return this;
  }

  show(): string[] {
    return this.events.map(showEvent);
  }

  private note(events: readonly WatchEvent[], revision: number): void {
    const first = events[0];
    const last = events.at(-1);
    if (!first || !last) throw new Error('a watch was called without events');
    if (first.revision <= this.lastRevision || last.revision > revision) {
      throw new Error(`revisions ${first.revision} to ${last.revision} are out of order`);
    }
    this.lastRevision = revision;
    this.events.push(...events);
  }
}

/** Resolves with the code of the StoreError that `result` rejects with, or `succeeded`. */
export function codeOf(result: Awaitable<unknown>): Promise<string> {
  return Promise.resolve(result).then(
    () => 'succeeded',
    (error: StoreError) => error.code,
  );
}

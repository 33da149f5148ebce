/**
 * The changes after a revision, from one server of etcd. Invariant: what has been yielded is complete
 * up to the revision yielded with it, so that the next stream can go on from there on any server.
 *
 * How it knows that nothing is missing at a revision that changed none of this store's keys: it asks for
 * progress. Older servers may answer that before the changes it speaks of (before 3.4.31 and 3.5.13);
 * from those it takes the changes of all keys, where every revision shows itself.
 */
import { type Revision, StoreError } from '../versioned-store.js';
import { type Commit, commitsOf } from './changes.js';
import type { EtcdMember, WatchStream } from './etcd-member.js';
import { ALL_KEYS, type KeyLayout, toEtcdRevision, toStoreRevision } from './key-layout.js';
import type { EtcdEvent, WatchResponse } from './messages.js';

export interface StreamStep {
  readonly commits: readonly Commit[];
  /** Everything up to it has been yielded. */
  readonly revision: number;
}

/** Which servers answer for progress only after the changes. */
const ORDERED_PROGRESS = [
  [3, 4, 31],
  [3, 5, 13],
] as const;

export function hasOrderedProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  for (const [sameMajor, sameMinor, patchMin] of ORDERED_PROGRESS) {
    if (major === sameMajor && minor === sameMinor) return patch >= patchMin;
  }
  return major > 3 || (major === 3 && minor > 5);
}

export interface StreamOptions {
  readonly layout: KeyLayout;
  readonly afterRevision: number;
  /** Whether each change comes with the version before. */
  readonly withPrevious: boolean;
}

export class ChangeStream implements AsyncIterable<StreamStep> {
  /** Every revision shows itself; progress is not asked for. */
  readonly #everyKey: boolean;
  readonly #stream: WatchStream;
  #revision: number;
  #fragments: EtcdEvent[] = [];

  constructor(
    private readonly member: EtcdMember,
    private readonly options: StreamOptions,
  ) {
    this.#everyKey = !hasOrderedProgress(member.version ?? '');
    this.#revision = options.afterRevision;
    this.#stream = member.openWatch();
    // The iteration throws it; an error that comes after its end is that of the cancelled call.
    this.#stream.on('error', () => undefined);
    this.#stream.write({
      createRequest: {
        ...(this.#everyKey ? ALL_KEYS : options.layout.own),
        startRevision: toEtcdRevision(options.afterRevision) + 1,
        prevKv: options.withPrevious,
        fragment: true,
      },
    });
  }

  /** Asks for a step that tells the newest revision, if it does not come by itself. */
  requestProgress(): void {
    if (!this.#everyKey && !this.#stream.destroyed) this.#stream.write({ progressRequest: {} });
  }

  close(): void {
    this.#stream.cancel();
  }

  /**
   * Throws StoreError `Compacted` when there is a gap (with the compacted revision if that is why) or
   * `Corrupt`, or EtcdError.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamStep> {
    try {
      for await (const response of this.#stream as AsyncIterable<WatchResponse>) {
        const step = this.#take(response);
        if (step) yield step;
      }
    } catch (error) {
      throw error instanceof StoreError ? error : this.member.errorOf(error);
    } finally {
      this.#stream.cancel();
    }
    throw this.member.errorOf(new Error('the stream of changes has ended'));
  }

  #take(response: WatchResponse): StreamStep | undefined {
    if (response.canceled) throw this.#canceled(response);
    if (response.created) return undefined;
    this.#fragments.push(...response.events);
    if (response.fragment) return undefined;
    const events = this.#fragments;
    this.#fragments = [];
    if (events.length === 0) return this.#progress(toStoreRevision(response.header.revision));
    const commits = commitsOf(events, this.options.layout);
    for (const { revision } of commits) this.#advance(revision);
    return { commits, revision: this.#revision };
  }

  #progress(revision: number): StreamStep | undefined {
    if (this.#everyKey || revision <= this.#revision) return undefined;
    this.#revision = revision;
    return { commits: [], revision };
  }

  #advance(revision: number): void {
    if (this.#everyKey && revision !== this.#revision + 1) {
      // The next stream begins where this one was complete.
      throw new Error(`revision ${revision} does not follow ${this.#revision} in the stream`);
    }
    if (revision <= this.#revision) {
      // Its progress was told too early, so what was passed on is not complete.
      throw this.#gone(`revision ${revision} came after progress to ${this.#revision}`);
    }
    this.#revision = revision;
  }

  #canceled({ compactRevision, cancelReason }: WatchResponse): unknown {
    if (compactRevision === 0) return new Error(`watch ended: ${cancelReason}`);
    const asked = this.options.afterRevision;
    return this.#gone(`revision ${asked} has been compacted`, toStoreRevision(compactRevision));
  }

  #gone(message: string, revision?: Revision): StoreError {
    return new StoreError('Compacted', message, revision);
  }
}

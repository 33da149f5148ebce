/**
 * Streams the changes after a revision from one server of etcd. Invariant: the steps are complete
 * up to the revision of the last step, so that the next stream can continue from there on any
 * server.
 *
 * Progress requests confirm that no change is missing up to a revision that changed no key of this
 * store. Servers before 3.4.31 and 3.5.13 may confirm progress before they send the changes; from
 * those the stream reads the changes of all keys, so that it sees every revision.
 */
import { type Revision, StoreError } from '../../versioned-store.js';
import type { EtcdMember, WatchStream } from '../client/etcd-member.js';
import type { EtcdEvent, WatchResponse } from '../client/messages.js';
import { type Commit, commitsOf } from '../layout/changes.js';
import { allKeys, type KeyLayout, toEtcdRevision, toStoreRevision } from '../layout/key-layout.js';

export interface StreamStep {
  readonly commits: readonly Commit[];
  /** Every change up to it has been yielded. */
  readonly revision: Revision;
}

/** The first versions whose progress responses follow the changes. */
const orderedProgress = [
  [3, 4, 31],
  [3, 5, 13],
] as const;

export function hasOrderedProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  for (const [sameMajor, sameMinor, patchMin] of orderedProgress) {
    if (major === sameMajor && minor === sameMinor) return patch >= patchMin;
  }
  return major > 3 || (major === 3 && minor > 5);
}

export interface StreamOptions {
  readonly layout: KeyLayout;
  readonly afterRevision: Revision;
  /** Whether each change includes the version before. */
  readonly withPrevious: boolean;
}

export class ChangeStream implements AsyncIterable<StreamStep> {
  /** Whether the stream has the changes of all keys and needs no progress requests. */
  private readonly everyKey: boolean;
  private readonly stream: WatchStream;
  private revision: Revision;
  private fragments: EtcdEvent[] = [];

  constructor(
    private readonly member: EtcdMember,
    private readonly options: StreamOptions,
  ) {
    this.everyKey = !hasOrderedProgress(member.version ?? '');
    this.revision = options.afterRevision;
    this.stream = member.openWatch();
    // The iteration throws errors; one after its end belongs to the cancelled call.
    this.stream.on('error', () => undefined);
    this.stream.write({
      createRequest: {
        ...(this.everyKey ? allKeys : options.layout.own),
        startRevision: toEtcdRevision(options.afterRevision) + 1,
        prevKv: options.withPrevious,
        fragment: true,
      },
    });
  }

  /** Requests a step with the newest revision. */
  requestProgress(): void {
    if (!this.everyKey && !this.stream.destroyed) this.stream.write({ progressRequest: {} });
  }

  close(): void {
    this.stream.cancel();
  }

  /**
   * Throws StoreError `Compacted` if there is a gap (with the compacted revision if that is the
   * cause) or `Corrupt`, or EtcdError.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamStep> {
    try {
      for await (const response of this.stream as AsyncIterable<WatchResponse>) {
        const step = this.take(response);
        if (step) yield step;
      }
    } catch (error) {
      throw error instanceof StoreError ? error : this.member.errorOf(error);
    } finally {
      this.stream.cancel();
    }
    throw this.member.errorOf(new Error('the change stream has ended'));
  }

  private take(response: WatchResponse): StreamStep | undefined {
    if (response.canceled) throw this.canceled(response);
    if (response.created) return undefined;
    this.fragments.push(...response.events);
    if (response.fragment) return undefined;
    const events = this.fragments;
    this.fragments = [];
    if (events.length === 0) return this.progress(toStoreRevision(response.header.revision));
    const commits = commitsOf(events, this.options.layout);
    for (const { revision } of commits) this.advance(revision);
    return { commits, revision: this.revision };
  }

  private progress(revision: Revision): StreamStep | undefined {
    if (this.everyKey || revision <= this.revision) return undefined;
    this.revision = revision;
    return { commits: [], revision };
  }

  private advance(revision: Revision): void {
    if (this.everyKey && revision !== this.revision + 1) {
      // The next stream continues where this one was complete.
      throw new Error(`revision ${revision} does not follow ${this.revision} in the stream`);
    }
    if (revision <= this.revision) {
      // The progress was confirmed too early, so the steps are not complete.
      throw this.gone(`revision ${revision} arrived after progress to ${this.revision}`);
    }
    this.revision = revision;
  }

  private canceled({ compactRevision, cancelReason }: WatchResponse): unknown {
    if (compactRevision === 0) return new Error(`watch ended: ${cancelReason}`);
    const requested = this.options.afterRevision;
    return this.gone(`revision ${requested} has been compacted`, toStoreRevision(compactRevision));
  }

  private gone(message: string, revision?: Revision): StoreError {
    return new StoreError('Compacted', message, revision);
  }
}

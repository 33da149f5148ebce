/**
 * The registered proposers, each with the commands of it that were applied. Invariants: the id of a
 * proposer is the log index of its registration, so that no evicted id is ever used again; at most
 * `proposersMax` are registered; the log alone decides which one is evicted: the one that was
 * silent longest.
 */
import { invariant, verify } from '@orch/component';
import { proposersMax } from '../limits.js';
import { StoreError } from '../versioned-store.js';
import { SequenceWindow } from './sequence-window.js';

export interface Registration {
  /** The id that the commands of this proposer carry from now on. */
  readonly proposer: string;
  /** The proposer that was evicted to make room. */
  readonly evicted: string | undefined;
}

export class ProposerTable {
  /** Over all registered proposers, as of the last `takeChanges`. */
  checksum = 0;
  private readonly windows = new Map<string, SequenceWindow>();
  private readonly touched = new Set<string>();

  get size(): number {
    return this.windows.size;
  }

  get(proposer: string): SequenceWindow | undefined {
    return this.windows.get(proposer);
  }

  /** Returns the id of the proposer that registered with this nonce. */
  idOf(nonce: string): string | undefined {
    for (const [proposer, window] of this.windows) if (window.nonce === nonce) return proposer;
    return undefined;
  }

  /** Records that `proposer` has a command at `index`; returns its window if it is registered. */
  touch(proposer: string, index: number): SequenceWindow | undefined {
    const window = this.windows.get(proposer);
    if (!window) return undefined;
    invariant(index > window.lastIndex, 'a proposer is touched at an earlier index');
    window.lastIndex = index;
    this.touched.add(proposer);
    return window;
  }

  /** Returns the same id as before if the nonce is registered already. */
  register(nonce: string, index: number): Registration {
    const registered = this.idOf(nonce);
    if (registered !== undefined) {
      this.touch(registered, index);
      return { proposer: registered, evicted: undefined };
    }
    const evicted = this.windows.size >= proposersMax ? this.evictSilent() : undefined;
    invariant(index > 0, 'a proposer is registered before the log begins');
    const proposer = index.toString(16).padStart(16, '0');
    invariant(!this.windows.has(proposer), 'an id is given to two proposers', { proposer });
    this.windows.set(proposer, new SequenceWindow(nonce));
    this.touch(proposer, index);
    invariant(this.windows.size <= proposersMax, 'too many proposers are registered');
    return { proposer, evicted };
  }

  /** Returns the changes since the last call, encoded; undefined for an evicted proposer. */
  takeChanges(): Map<string, Buffer | undefined> {
    const changes = new Map<string, Buffer | undefined>();
    for (const proposer of this.touched) {
      const window = this.windows.get(proposer);
      if (window) this.mix(window.checksum);
      changes.set(proposer, window?.encode(proposer));
      if (window) this.mix(window.checksum);
    }
    this.touched.clear();
    verify(() => this.checksum === this.checksumOfAll(), 'the checksum of the proposers is wrong');
    return changes;
  }

  /** Encodes all proposers, as of the last `takeChanges`. */
  encodeAll(): Map<string, Buffer> {
    invariant(this.touched.size === 0, 'proposers are encoded that have unwritten changes');
    const all = new Map<string, Buffer>();
    for (const [proposer, window] of this.windows) {
      const { checksum } = window;
      all.set(proposer, window.encode(proposer));
      invariant(window.checksum === checksum, 'an unchanged window has another checksum');
    }
    return all;
  }

  /** Throws StoreError `Corrupt` if `checksum` is not that of `windows`. */
  restore(windows: ReadonlyMap<string, SequenceWindow>, checksum: number): void {
    invariant(this.windows.size === 0, 'proposers are restored into a table in use');
    for (const [proposer, window] of windows) {
      this.windows.set(proposer, window);
      this.mix(window.checksum);
    }
    if (this.checksum === checksum) return;
    throw new StoreError(
      'Corrupt',
      'the records of the proposers do not agree with the rest of the state: restore this data directory from a backup or another replica',
    );
  }

  private evictSilent(): string {
    invariant(this.windows.size >= proposersMax, 'a proposer is evicted without need');
    let silent: string | undefined;
    let lastIndex = Number.POSITIVE_INFINITY;
    for (const [proposer, window] of this.windows) {
      if (window.lastIndex >= lastIndex) continue;
      silent = proposer;
      lastIndex = window.lastIndex;
    }
    invariant(silent !== undefined, 'no proposer can be evicted');
    this.mix(this.windows.get(silent)!.checksum);
    this.windows.delete(silent);
    this.touched.add(silent);
    invariant(this.windows.size < proposersMax, 'an evicted proposer leaves no room');
    return silent;
  }

  private mix(checksum: number): void {
    this.checksum = (this.checksum ^ checksum) >>> 0;
  }

  private checksumOfAll(): number {
    let sum = 0;
    for (const { checksum } of this.windows.values()) sum ^= checksum;
    return sum >>> 0;
  }
}

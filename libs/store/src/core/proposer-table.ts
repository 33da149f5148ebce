/**
 * The proposers that the state knows, each with the commands of it that were applied. Invariants: an
 * id is the log index of its registration, so none comes back once it is forgotten; at most
 * `PROPOSERS_MAX` are known, and which one goes is decided by the log alone: the one silent longest.
 */
import { PROPOSERS_MAX } from '../limits.js';
import { StoreError } from '../versioned-store.js';
import { SequenceWindow } from './sequence-window.js';

export interface Registration {
  /** What to put into commands from now on. */
  readonly proposer: string;
  /** Who was silent longest had to go. */
  readonly evicted: string | undefined;
}

export class ProposerTable {
  /** Over all that is known, as of the last `takeChanges`. */
  checksum = 0;
  readonly #windows = new Map<string, SequenceWindow>();
  readonly #touched = new Set<string>();

  get size(): number {
    return this.#windows.size;
  }

  get(proposer: string): SequenceWindow | undefined {
    return this.#windows.get(proposer);
  }

  /** The id that a registration with this nonce got. */
  idOf(nonce: string): string | undefined {
    for (const [proposer, window] of this.#windows) if (window.nonce === nonce) return proposer;
    return undefined;
  }

  /** Notes a command of the proposer at `index`. */
  touch(proposer: string, index: number): SequenceWindow | undefined {
    const window = this.#windows.get(proposer);
    if (!window) return undefined;
    window.lastIndex = index;
    this.#touched.add(proposer);
    return window;
  }

  /** Registering again while it is known gives the same id. */
  register(nonce: string, index: number): Registration {
    const known = this.idOf(nonce);
    if (known !== undefined) {
      this.touch(known, index);
      return { proposer: known, evicted: undefined };
    }
    const evicted = this.#windows.size >= PROPOSERS_MAX ? this.#forgetSilent() : undefined;
    const proposer = index.toString(16).padStart(16, '0');
    this.#windows.set(proposer, new SequenceWindow(nonce));
    this.touch(proposer, index);
    return { proposer, evicted };
  }

  /** What changed since the last call, encoded; undefined: the proposer was forgotten. */
  takeChanges(): Map<string, Buffer | undefined> {
    const changes = new Map<string, Buffer | undefined>();
    for (const proposer of this.#touched) {
      const window = this.#windows.get(proposer);
      if (window) this.#mix(window.checksum);
      changes.set(proposer, window?.encode(proposer));
      if (window) this.#mix(window.checksum);
    }
    this.#touched.clear();
    return changes;
  }

  /** All of them, as of the last `takeChanges`, encoded. */
  encodeAll(): Map<string, Buffer> {
    const all = new Map<string, Buffer>();
    for (const [proposer, window] of this.#windows) all.set(proposer, window.encode(proposer));
    return all;
  }

  /** Throws StoreError `Corrupt` when they are not those that `checksum` was taken of. */
  restore(windows: ReadonlyMap<string, SequenceWindow>, checksum: number): void {
    for (const [proposer, window] of windows) {
      this.#windows.set(proposer, window);
      this.#mix(window.checksum);
    }
    if (this.checksum === checksum) return;
    throw new StoreError(
      'Corrupt',
      'what was noted of the proposers does not agree with the rest of the state: restore this data directory from a backup or another replica',
    );
  }

  #forgetSilent(): string {
    let silent = '';
    let lastIndex = Number.POSITIVE_INFINITY;
    for (const [proposer, window] of this.#windows) {
      if (window.lastIndex >= lastIndex) continue;
      silent = proposer;
      lastIndex = window.lastIndex;
    }
    this.#mix(this.#windows.get(silent)!.checksum);
    this.#windows.delete(silent);
    this.#touched.add(silent);
    return silent;
  }

  #mix(checksum: number): void {
    this.checksum = (this.checksum ^ checksum) >>> 0;
  }
}

/**
 * A state for tests of the log alone: the list of commands applied, with snapshots of it. Keeps
 * what a state keeps on disk in `StateDisk`, which survives a restart of the replica.
 */
import { asLogIndex } from '../core/brands.js';
import type { Leadership, LogIndex, SnapshotPoint } from '../core/types.js';
import {
  type AppliedState,
  type CommittedEntry,
  type IncomingSnapshot,
  type LogError,
  LogError as LogFailure,
  type LogHandlers,
  type OutgoingSnapshot,
} from '../replicated-log.js';

export interface Applied {
  readonly index: number;
  readonly text: string;
}

export class StateDisk {
  applied: readonly Applied[] = [];
  appliedIndex = 0;
  installed: SnapshotPoint | undefined;
  needsSnapshot = false;
}

export class LogRecorder implements LogHandlers {
  readonly disk: StateDisk;
  readonly refusals: { readonly ids: readonly number[]; readonly error: LogError }[] = [];
  readonly leaderships: Leadership[] = [];
  /** Entries of one snapshot chunk. */
  chunkEntries = 10;
  /** Called before each chunk that is read. */
  beforeChunk: () => Promise<void> | undefined = () => undefined;
  /** Called with entries before they are applied. */
  beforeApply: (entries: readonly CommittedEntry[]) => Promise<void> | undefined = () => undefined;
  snapshotsOpen = 0;
  installs = 0;
  private applied: Applied[];
  private lastApplied: number;
  private incoming: Applied[] | undefined;

  constructor(disk: StateDisk = new StateDisk()) {
    this.disk = disk;
    this.applied = [...disk.applied];
    this.lastApplied = disk.appliedIndex;
  }

  /** The state that a start begins with. */
  get state(): AppliedState {
    const { appliedIndex, installed, needsSnapshot } = this.disk;
    return { appliedIndex: asLogIndex(appliedIndex), installed, needsSnapshot };
  }

  get texts(): string[] {
    return this.applied.map(({ text }) => text);
  }

  get appliedIndex(): LogIndex {
    return asLogIndex(this.lastApplied);
  }

  /** Writes the state to its disk: the log may be compacted up to it. */
  checkpoint(): LogIndex {
    this.disk.applied = [...this.applied];
    this.disk.appliedIndex = this.lastApplied;
    return this.appliedIndex;
  }

  onCommitted(entries: readonly CommittedEntry[]): Promise<void> | undefined {
    const held = this.beforeApply(entries);
    if (!held) return this.apply(entries);
    return held.then(() => this.apply(entries));
  }

  onRefused(ids: readonly number[], error: LogError): void {
    this.refusals.push({ ids, error });
  }

  onLeadership(leadership: Leadership): void {
    this.leaderships.push(leadership);
  }

  readonly snapshots = {
    open: async (): Promise<OutgoingSnapshot> => {
      this.snapshotsOpen += 1;
      const entries = [...this.applied];
      let at = 0;
      return {
        appliedIndex: this.appliedIndex,
        next: async () => {
          await this.beforeChunk();
          if (at >= entries.length) return undefined;
          const piece = entries.slice(at, at + this.chunkEntries);
          at += piece.length;
          return Buffer.from(JSON.stringify(piece));
        },
        close: async () => {
          this.snapshotsOpen -= 1;
        },
      };
    },
    receive: async (): Promise<IncomingSnapshot> => {
      const incoming: Applied[] = [];
      return {
        write: async (chunk) => {
          incoming.push(...(JSON.parse(chunk.toString()) as Applied[]));
        },
        finish: async () => {
          this.incoming = incoming;
          const last = incoming.at(-1);
          if (!last) throw new LogFailure('Corrupt', 'the snapshot is empty');
          return { appliedIndex: asLogIndex(last.index) };
        },
        discard: async () => {
          this.incoming = undefined;
        },
      };
    },
    install: async (point: SnapshotPoint): Promise<void> => {
      if (!this.incoming) throw new Error('no snapshot has arrived');
      this.applied = this.incoming;
      this.incoming = undefined;
      this.lastApplied = point.index;
      this.installs += 1;
      this.disk.installed = point;
      this.disk.needsSnapshot = false;
      this.checkpoint();
    },
  };

  private apply(entries: readonly CommittedEntry[]): undefined {
    for (const { index, command } of entries) {
      if (index !== this.lastApplied + 1) {
        throw new Error(`entry ${index} came after ${this.lastApplied}`);
      }
      this.lastApplied = index;
      // Entries of the log's own are recorded as well: a snapshot refers to the last one.
      this.applied.push({ index, text: command.toString() });
    }
    return undefined;
  }
}

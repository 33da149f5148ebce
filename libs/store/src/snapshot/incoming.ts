/**
 * A state that is being received, in a directory beside the one in use. Invariant: `finish`
 * resolves only if the state is complete, every record was read back from disk and matches its
 * checksums, and the facts agree with the records.
 */
import { invariant, type LoopClock } from '@orch/component';
import {
  asLogIndex,
  type Disk,
  type IncomingSnapshot,
  LogError,
  type LogIndex,
  type Row,
} from '@orch/raft';
import { type Facts, StateMachine } from '../core/state-machine.js';
import { stateBatchBytesMax } from '../limits.js';
import { restoreState } from '../state/recovery.js';
import { StateDatabase } from '../state/state-database.js';
import type { StoreOptions } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { StateStreamReader } from './state-stream.js';

export class IncomingState implements IncomingSnapshot {
  /** The received state in memory, after `finish`. */
  machine: StateMachine | undefined;
  private readonly stream = new StateStreamReader();
  private rows: Row[] = [];
  private rowBytes = 0;
  private closed = false;

  private constructor(
    readonly directory: string,
    private readonly disk: Disk,
    private readonly database: StateDatabase,
    private readonly clock: LoopClock,
    private readonly options: StoreOptions,
  ) {}

  /** Deletes the content of `directory`. */
  static async open(
    directory: string,
    disk: Disk,
    clock: LoopClock,
    options: StoreOptions,
  ): Promise<IncomingState> {
    await disk.removeDirectory(directory);
    const database = await StateDatabase.open(disk, directory);
    return new IncomingState(directory, disk, database, clock, options);
  }

  async write(chunk: Buffer): Promise<void> {
    await asLogError(async () => {
      for (const row of this.stream.take(chunk)) {
        this.rows.push(row);
        this.rowBytes += row[0].length + row[1].length;
      }
      if (this.rowBytes >= stateBatchBytesMax) await this.flush();
    });
  }

  async finish(): Promise<{ readonly appliedIndex: LogIndex }> {
    return asLogError(async () => {
      const { facts, sweptRevision } = this.stream.finish();
      await this.flush();
      await this.database.noteSwept(sweptRevision);
      await this.database.writeFacts(facts);
      await this.database.sync();
      const machine = new StateMachine(this.options.ringEventsMax, this.options.ringBytesMax);
      const proposers = await this.database.readProposers();
      await restoreState(machine, this.database, { facts, proposers }, this.clock);
      this.machine = machine;
      await this.database.writeCheckpoint({ facts, proposers: machine.proposers.encodeAll() });
      return { appliedIndex: asLogIndex(facts.appliedIndex) };
    });
  }

  /**
   * Makes the state the start of another cluster: drops the history and the proposers and moves the
   * revision ahead by `byRevisions`. To be called after `finish`.
   */
  async moveAhead(byRevisions: number): Promise<Facts> {
    const { machine } = this;
    invariant(machine !== undefined, 'an unfinished state is moved ahead');
    const revision = machine.revision + byRevisions;
    const facts: Facts = {
      ...machine.facts,
      revision,
      compactedRevision: revision,
      proposersChecksum: 0,
    };
    const checkpoint = { facts, proposers: new Map() };
    await this.database.returnTo(checkpoint);
    await this.database.writeCheckpoint(checkpoint);
    return facts;
  }

  /** Closes the directory after recording the snapshot that it comes from. */
  async seal(point: Parameters<StateDatabase['noteInstalled']>[0]): Promise<void> {
    await this.database.noteInstalled(point);
    await this.close();
  }

  async discard(): Promise<void> {
    this.machine = undefined;
    await this.close();
    await this.disk.removeDirectory(this.directory);
  }

  private async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.database.close();
  }

  private async flush(): Promise<void> {
    const rows = this.rows;
    this.rows = [];
    this.rowBytes = 0;
    await this.database.writeRows(rows);
  }
}

/** Converts an error for the log, which handles LogError only. */
async function asLogError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new LogError('Corrupt', `the snapshot cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}

/**
 * The replicated log of a cluster with one voter: durable here is committed. Appends are
 * group-committed: everything proposed while one synced write runs goes into the next.
 *
 * Invariants: an entry is delivered only after its write was synced, in index order, once; after a
 * failed write nothing is acknowledged any more and the process ends (`onFatal`), since the
 * database's state is unknown from then on. What a command means is left to the store.
 */
import type { Clock, Logger } from '@orch/component';
import { Deadlines } from '../deadlines.js';
import {
  BATCH_BYTES_MAX,
  BATCH_ENTRIES_MAX,
  COMMAND_BYTES_MAX,
  PENDING_BYTES_MAX,
  PENDING_ENTRIES_MAX,
  RECOVERY_SLICE_ENTRIES,
} from '../limits.js';
import type { LogObserver } from '../log-observer.js';
import {
  type CommittedEntry,
  type CommittedHandler,
  LogError,
  type LogIndex,
  type LogStatus,
  type ReplicatedLog,
} from '../replicated-log.js';
import { LogDatabase } from './log-database.js';
import { Proposal } from './proposal.js';

export interface LocalLogOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Must end the process: the log can no longer keep its promises. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly observer?: LogObserver;
  /** Proposals that may wait. Higher: longer waits and more memory under overload; lower: earlier refusals. */
  readonly pendingEntriesMax?: number;
  readonly pendingBytesMax?: number;
}

export class LocalLog implements ReplicatedLog {
  readonly #options: LocalLogOptions;
  readonly #deadlines: Deadlines<Proposal>;
  /** Not yet handed to a write. */
  #queue: Proposal[] = [];
  #pendingEntries = 0;
  #pendingBytes = 0;
  #database: LogDatabase | undefined;
  #onCommitted: CommittedHandler | undefined;
  #writer: Promise<void> | undefined;
  #truncation: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #unavailableReason: string | undefined = 'the log has not been started';

  constructor(options: LocalLogOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock);
  }

  async start(appliedIndex: LogIndex, onCommitted: CommittedHandler): Promise<void> {
    if (this.#onCommitted) throw new LogError('Stopped', 'a log is started once');
    this.#onCommitted = onCommitted;
    const database = await LogDatabase.open(this.#options.directory);
    this.#database = database;
    try {
      this.#checkContinuity(database, appliedIndex);
      for await (const entries of database.readAfter(appliedIndex, RECOVERY_SLICE_ENTRIES)) {
        await onCommitted(entries);
      }
    } catch (error) {
      this.#database = undefined;
      await database.close();
      throw error;
    }
    this.#unavailableReason = undefined;
    this.#options.logger.info(
      { directory: database.directory, lastIndex: database.lastIndex, appliedIndex },
      'log opened',
    );
  }

  propose(command: Buffer, deadlineMs: number): Promise<LogIndex> {
    const refusal = this.#refusal(command, deadlineMs);
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const proposal = new Proposal(command, deadlineMs, resolve, reject);
      this.#queue.push(proposal);
      this.#pendingEntries += 1;
      this.#pendingBytes += command.length;
      this.#deadlines.add(proposal);
      this.#writer ??= this.#write();
    });
  }

  readBarrier(_deadlineMs: number): Promise<LogIndex> {
    // One voter: whatever was acknowledged anywhere was synced and delivered here first.
    if (this.#unavailableReason !== undefined) {
      return Promise.reject(new LogError('Stopped', this.#unavailableReason));
    }
    return Promise.resolve((this.#database?.lastIndex ?? 0) as LogIndex);
  }

  truncate(index: LogIndex): Promise<void> {
    const database = this.#database;
    if (!database || this.#stopping) {
      return Promise.reject(new LogError('Stopped', 'the log is not running'));
    }
    if (index > database.lastIndex) {
      return Promise.reject(new RangeError(`cannot cut the log at ${index}, after its end`));
    }
    this.#truncation = this.#truncation.then(() => database.truncate(index));
    return this.#truncation;
  }

  status(): LogStatus {
    return {
      role: 'leader',
      commitIndex: (this.#database?.lastIndex ?? 0) as LogIndex,
      firstIndex: (this.#database?.firstIndex ?? 1) as LogIndex,
      lastIndex: (this.#database?.lastIndex ?? 0) as LogIndex,
      proposalsPending: this.#pendingEntries,
      ...(this.#unavailableReason === undefined
        ? {}
        : { unavailableReason: this.#unavailableReason }),
    };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#unavailableReason ??= 'the log is stopped';
    this.#rejectQueue('the log is stopping');
    await this.#writer;
    await this.#truncation.catch((error: unknown) => {
      this.#options.logger.warn({ error }, 'cutting the log failed, the next start finishes it');
    });
    await this.#database?.close();
  }

  #refusal(command: Buffer, deadlineMs: number): LogError | undefined {
    if (this.#unavailableReason !== undefined) {
      return new LogError('Stopped', this.#unavailableReason);
    }
    if (command.length > COMMAND_BYTES_MAX) {
      return new LogError(
        'TooLarge',
        `command of ${command.length} bytes, at most ${COMMAND_BYTES_MAX} are taken`,
      );
    }
    if (
      this.#pendingEntries >= (this.#options.pendingEntriesMax ?? PENDING_ENTRIES_MAX) ||
      this.#pendingBytes + command.length > (this.#options.pendingBytesMax ?? PENDING_BYTES_MAX)
    ) {
      return new LogError('QueueFull', `${this.#pendingEntries} proposals wait for the disk`);
    }
    if (deadlineMs <= this.#options.clock.monotonicMs()) {
      return new LogError('DeadlineExceeded', 'the deadline has passed, nothing was written');
    }
    return undefined;
  }

  async #write(): Promise<void> {
    // One turn of the loop: what arrives together is written together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      try {
        await this.#commit(batch);
      } catch (error) {
        this.#fail(batch, error);
        break;
      }
    }
    this.#writer = undefined;
  }

  async #commit(batch: readonly Proposal[]): Promise<void> {
    const database = this.#database!;
    const firstIndex = database.lastIndex + 1;
    const startedMs = this.#options.clock.monotonicMs();
    await database.append(batch.map((proposal) => proposal.command));
    const entries: CommittedEntry[] = batch.map((proposal, at) => ({
      index: (firstIndex + at) as LogIndex,
      command: proposal.command,
    }));
    let byteCount = 0;
    for (const proposal of batch) byteCount += proposal.command.length;
    const durationMs = this.#options.clock.monotonicMs() - startedMs;
    this.#options.observer?.synced(entries.length, byteCount, durationMs);
    const held = this.#onCommitted!(entries);
    for (const [at, proposal] of batch.entries()) {
      this.#release(proposal);
      proposal.resolve((firstIndex + at) as LogIndex);
    }
    if (held) await held;
  }

  #takeBatch(): Proposal[] {
    const nowMs = this.#options.clock.monotonicMs();
    const batch: Proposal[] = [];
    let byteCount = 0;
    let taken = 0;
    for (const proposal of this.#queue) {
      if (batch.length === BATCH_ENTRIES_MAX) break;
      if (byteCount + proposal.command.length > BATCH_BYTES_MAX) break;
      taken += 1;
      if (proposal.settled || proposal.deadlineMs <= nowMs) {
        this.#release(proposal);
        proposal.expired();
        continue;
      }
      proposal.appending = true;
      byteCount += proposal.command.length;
      batch.push(proposal);
    }
    this.#queue = this.#queue.slice(taken);
    return batch.length === 0 && this.#queue.length > 0 ? this.#takeBatch() : batch;
  }

  #release(proposal: Proposal): void {
    this.#deadlines.remove(proposal);
    this.#pendingEntries -= 1;
    this.#pendingBytes -= proposal.command.length;
  }

  #fail(batch: readonly Proposal[], error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error));
    this.#unavailableReason = `writing the log failed: ${cause.message}`;
    for (const proposal of batch) {
      this.#release(proposal);
      proposal.reject(new LogError('OutcomeUnknown', this.#unavailableReason, { cause }));
    }
    this.#rejectQueue(this.#unavailableReason);
    this.#options.onFatal(new Error(this.#unavailableReason, { cause }));
  }

  #rejectQueue(reason: string): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const proposal of queue) {
      this.#release(proposal);
      proposal.reject(new LogError('Stopped', `${reason}, nothing was written`));
    }
  }

  #checkContinuity(database: LogDatabase, appliedIndex: number): void {
    const cure = 'restore this data directory from a backup or another replica';
    if (appliedIndex > database.lastIndex) {
      throw new LogError(
        'Corrupt',
        `the log in ${database.directory} ends at ${database.lastIndex} but the state has applied ${appliedIndex}, so entries were lost: ${cure}`,
      );
    }
    if (appliedIndex + 1 < database.firstIndex) {
      throw new LogError(
        'Corrupt',
        `the log in ${database.directory} begins at ${database.firstIndex} but the state has applied only ${appliedIndex}, so state was lost: ${cure}`,
      );
    }
  }
}

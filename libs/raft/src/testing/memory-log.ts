/**
 * A log in memory for tests of what lies above it, with the faults that matter there: entries that
 * a crash loses, entries that commit although the proposer was told that the outcome is unknown,
 * and times without a quorum. `MemoryDisk` is what survives a crash.
 */
import {
  type CommittedEntry,
  type CommittedHandler,
  LogError,
  type LogIndex,
  type LogStatus,
  type ReplicatedLog,
} from '../replicated-log.js';

export class MemoryDisk {
  firstIndex = 1;
  readonly commands: Buffer[] = [];

  get lastIndex(): number {
    return this.firstIndex + this.commands.length - 1;
  }
}

interface Pending {
  readonly command: Buffer;
  readonly resolve: (index: LogIndex) => void;
  readonly reject: (error: LogError) => void;
}

export class MemoryLog implements ReplicatedLog {
  /** Set: proposals and barriers reject with `NoQuorum`. */
  noQuorum = false;
  /** That many next proposals commit, but their proposers are told `OutcomeUnknown`. */
  unknownOutcomes = 0;
  role: LogStatus['role'] = 'leader';
  #pending: Pending[] = [];
  #onCommitted: CommittedHandler | undefined;
  #flushing = false;
  #stopped = false;

  constructor(readonly disk: MemoryDisk = new MemoryDisk()) {}

  async start(appliedIndex: LogIndex, onCommitted: CommittedHandler): Promise<void> {
    this.#onCommitted = onCommitted;
    const { disk } = this;
    if (appliedIndex > disk.lastIndex || appliedIndex + 1 < disk.firstIndex) {
      throw new LogError('Corrupt', `applied ${appliedIndex} is not within the log`);
    }
    for (let index = appliedIndex + 1; index <= disk.lastIndex; index += 1) {
      await onCommitted([this.#entry(index)]);
    }
  }

  propose(command: Buffer, _deadlineMs: number): Promise<LogIndex> {
    if (this.#stopped || !this.#onCommitted) {
      return Promise.reject(new LogError('Stopped', 'the log is not running'));
    }
    if (this.noQuorum) return Promise.reject(new LogError('NoQuorum', 'no quorum'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ command: Buffer.from(command), resolve, reject });
      if (!this.#flushing) {
        this.#flushing = true;
        setImmediate(() => void this.#flush());
      }
    });
  }

  readBarrier(_deadlineMs: number): Promise<LogIndex> {
    if (this.#stopped) return Promise.reject(new LogError('Stopped', 'the log is stopped'));
    if (this.noQuorum) return Promise.reject(new LogError('NoQuorum', 'no quorum'));
    return Promise.resolve(this.disk.lastIndex as LogIndex);
  }

  async truncate(index: LogIndex): Promise<void> {
    const count = index - this.disk.firstIndex + 1;
    if (count <= 0) return;
    this.disk.commands.splice(0, count);
    this.disk.firstIndex = index + 1;
  }

  status(): LogStatus {
    return {
      role: this.role,
      commitIndex: this.disk.lastIndex as LogIndex,
      firstIndex: this.disk.firstIndex as LogIndex,
      lastIndex: this.disk.lastIndex as LogIndex,
      proposalsPending: this.#pending.length,
      ...(this.noQuorum ? { unavailableReason: 'no quorum' } : {}),
    };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const pending of this.#takePending()) {
      pending.reject(new LogError('Stopped', 'the log is stopping, nothing was written'));
    }
  }

  /** Ends at once: of what was not yet written, the first `kept` entries reach the disk unacknowledged. */
  crash(kept = 0): void {
    this.#stopped = true;
    for (const [at, pending] of this.#takePending().entries()) {
      if (at < kept) this.disk.commands.push(pending.command);
      pending.reject(new LogError('OutcomeUnknown', 'the log crashed'));
    }
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0 && !this.#stopped) {
      const batch = this.#takePending();
      const first = this.disk.lastIndex + 1;
      for (const pending of batch) this.disk.commands.push(pending.command);
      const held = this.#onCommitted!(batch.map((_, at) => this.#entry(first + at)));
      for (const [at, pending] of batch.entries()) {
        if (this.unknownOutcomes > 0) {
          this.unknownOutcomes -= 1;
          pending.reject(new LogError('OutcomeUnknown', 'the leader changed'));
        } else pending.resolve((first + at) as LogIndex);
      }
      if (held) await held;
    }
    this.#flushing = false;
  }

  #entry(index: number): CommittedEntry {
    return {
      index: index as LogIndex,
      command: this.disk.commands[index - this.disk.firstIndex]!,
    };
  }

  #takePending(): Pending[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }
}

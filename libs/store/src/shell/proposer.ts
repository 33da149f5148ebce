/**
 * Proposes this replica's commands and settles each from its own applied command. A proposal whose
 * outcome is unknown (the leader changed) is proposed again under the same id until its deadline;
 * the state machine applies an id once. A caller is told "not taken" only when that is certain.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '@orch/component';
import { Deadlines, LogError, type ReplicatedLog, type Waiting } from '@orch/raft';
import { type Command, type CommandId, encodeCommand } from '../core/command.js';
import type { Applied } from '../core/state-machine.js';
import {
  COMMIT_BYTES_MAX,
  PENDING_COMMITS_MAX,
  REPROPOSE_DELAY_MS,
  SEQUENCE_WINDOW,
} from '../limits.js';
import type { StoreObserver } from '../store-observer.js';
import {
  type CommitResult,
  type Operation,
  type Revision,
  StoreError,
} from '../versioned-store.js';

/** What is proposed; id and time are added here. */
export type Proposed =
  | { readonly kind: 'txn'; readonly operations: readonly Operation[] }
  | { readonly kind: 'compact'; readonly revision: Revision }
  | { readonly kind: 'expire' }
  | { readonly kind: 'noop' };

interface Pending extends Waiting {
  readonly sequence: number;
  readonly bytes: Buffer;
  readonly startedMs: number;
  readonly operationCount: number;
  /** Some try may have reached the log. */
  maybeTaken: boolean;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: StoreError) => void;
}

export class Proposer {
  /** Names this process life in command ids. */
  readonly id = randomBytes(8).toString('hex');
  readonly #deadlines: Deadlines<Pending>;
  /** By sequence, oldest first. */
  readonly #pending = new Map<number, Pending>();
  #sequence = 0;
  #stopped = false;

  constructor(
    private readonly log: ReplicatedLog,
    private readonly clock: Clock,
    private readonly observer: StoreObserver | undefined,
    private readonly pendingMax = PENDING_COMMITS_MAX,
  ) {
    this.#deadlines = new Deadlines(clock);
  }

  propose(proposed: Proposed, timeoutMs: number): Promise<CommitResult> {
    if (this.#stopped) return this.#refuse(new StoreError('Stopped', 'the store is stopped'));
    const oldest = this.#pending.keys().next().value ?? this.#sequence;
    if (
      this.#pending.size >= this.pendingMax ||
      this.#sequence - oldest >= SEQUENCE_WINDOW - this.pendingMax
    ) {
      return this.#refuse(
        new StoreError('Overloaded', `${this.#pending.size} commits are waiting for their outcome`),
      );
    }
    this.#sequence += 1;
    const sequence = this.#sequence;
    const id = { proposer: this.id, sequence };
    const timeMs = Math.max(0, Math.floor(this.clock.nowMs()));
    const bytes = encodeCommand(commandOf(proposed, id, timeMs));
    if (bytes.length > COMMIT_BYTES_MAX) {
      return this.#refuse(
        new StoreError(
          'TooLarge',
          `the commit has ${bytes.length} bytes, at most ${COMMIT_BYTES_MAX} are taken`,
        ),
      );
    }
    return new Promise((resolve, reject) => {
      const startedMs = this.clock.monotonicMs();
      const pending: Pending = {
        sequence,
        bytes,
        startedMs,
        deadlineMs: startedMs + timeoutMs,
        operationCount: proposed.kind === 'txn' ? proposed.operations.length : 1,
        maybeTaken: false,
        resolve,
        reject,
        expired: () => this.#fail(pending, timedOut(pending)),
      };
      this.#pending.set(sequence, pending);
      this.#deadlines.add(pending);
      void this.#try(pending);
    });
  }

  /** A command was applied: if it is one of ours, its caller gets the result. */
  settle(applied: Applied): void {
    if (applied.proposer !== this.id) return;
    const pending = this.#pending.get(applied.sequence);
    if (!pending) return;
    this.#forget(pending);
    this.observer?.committed(this.clock.monotonicMs() - pending.startedMs, pending.operationCount);
    pending.resolve(applied.result);
  }

  /** No result can come any more: what may have been taken has an unknown outcome. */
  stop(): void {
    this.#stopped = true;
    for (const pending of [...this.#pending.values()]) this.#fail(pending, stopped(pending));
  }

  async #try(pending: Pending): Promise<void> {
    while (this.#pending.has(pending.sequence)) {
      const firstTry = !pending.maybeTaken;
      pending.maybeTaken = true;
      try {
        await this.log.propose(pending.bytes, pending.deadlineMs);
        return; // Settled by `settle` before, or as soon as this replica has applied it.
      } catch (error) {
        if (!(error instanceof LogError)) throw error;
        if (error.code !== 'OutcomeUnknown') {
          pending.maybeTaken = !firstTry;
          if (firstTry) return this.#fail(pending, refusalOf(error));
          if (error.code === 'Stopped') return this.#fail(pending, stopped(pending));
        }
        await new Promise<void>((resolve) => this.clock.setTimer(REPROPOSE_DELAY_MS, resolve));
      }
    }
  }

  #fail(pending: Pending, error: StoreError): void {
    if (!this.#forget(pending)) return;
    this.observer?.commitFailed(error.code);
    pending.reject(error);
  }

  #forget(pending: Pending): boolean {
    this.#deadlines.remove(pending);
    return this.#pending.delete(pending.sequence);
  }

  #refuse(error: StoreError): Promise<never> {
    this.observer?.commitFailed(error.code);
    return Promise.reject(error);
  }
}

/** Transactions are spelt out: spreading and then adding costs several microseconds. */
function commandOf(proposed: Proposed, id: CommandId, timeMs: number): Command {
  if (proposed.kind === 'txn') {
    return { kind: 'txn', operations: proposed.operations, id, timeMs };
  }
  return { ...proposed, id, timeMs };
}

function refusalOf(error: LogError): StoreError {
  switch (error.code) {
    case 'QueueFull':
      return new StoreError('Overloaded', error.message);
    case 'TooLarge':
      return new StoreError('TooLarge', error.message);
    case 'Stopped':
      return new StoreError('Stopped', error.message);
    default:
      return new StoreError('Unavailable', `the commit was not taken: ${error.message}`);
  }
}

function timedOut({ maybeTaken }: Pending): StoreError {
  return maybeTaken
    ? new StoreError(
        'OutcomeUnknown',
        'the commit did not finish in time and may still take effect',
      )
    : new StoreError('Unavailable', 'the commit was not taken in time');
}

function stopped({ maybeTaken }: Pending): StoreError {
  return maybeTaken
    ? new StoreError('OutcomeUnknown', 'the store stopped while the commit was under way')
    : new StoreError('Stopped', 'the store is stopped');
}

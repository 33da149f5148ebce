/**
 * Proposes this replica's commands and settles each from its own applied command. One that may be
 * lost (the leader changed, no answer came) is proposed again under the same id until its deadline;
 * the state machine applies an id once. A caller is told "not taken" only when that is certain.
 *
 * Commands wait until this process life is registered, which the log does in order: so a command is
 * never applied unless the state remembers that it was.
 */
import type { Clock, Timer } from '@orch/component';
import type { Leadership, LogError, MemberId, ReplicatedLog, Term } from '@orch/raft';
import { encodeCommand, setProposer } from '../core/command.js';
import type { Registration as Registered } from '../core/proposer-table.js';
import type { Applied, StateMachine } from '../core/state-machine.js';
import {
  COMMIT_BYTES_MAX,
  PROPOSAL_SWEEP_MS,
  REPROPOSE_DELAY_MS,
  REPROPOSE_SILENCE_MS,
  SEQUENCE_WINDOW,
} from '../limits.js';
import type { StoreObserver } from '../store-observer.js';
import { type CommitResult, StoreError } from '../versioned-store.js';
import { type Attempted, Attempts } from './attempts.js';
import { evicted, missedResult, refusalOf, stopped, timedOut } from './commit-outcomes.js';
import { commandOf, type Proposed } from './proposed.js';
import { Registration } from './registration.js';
import type { StoreTime } from './store-time.js';

interface Pending extends Attempted {
  readonly sequence: number;
  /** Undefined until it is registered and the command tried. */
  proposer: string | undefined;
  readonly startedMs: number;
  readonly deadlineMs: number;
  readonly operationCount: number;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: StoreError) => void;
}

const UNNAMED = '0'.repeat(16);

export class Proposer {
  readonly #registration: Registration;
  readonly #attempts: Attempts<Pending | Registration>;
  /** By sequence, oldest first. */
  readonly #pending = new Map<number, Pending>();
  #sequence = 0;
  #timer: Timer | undefined;
  #leader: MemberId | undefined;
  #term: Term = 0;
  #running = false;
  #stopped = false;

  constructor(
    log: ReplicatedLog,
    private readonly clock: Clock,
    private readonly time: StoreTime,
    random: () => number,
    private readonly observer: StoreObserver | undefined,
    private readonly pendingMax: number,
  ) {
    this.#attempts = new Attempts(log);
    this.#registration = new Registration(random);
  }

  /** A command of this process life was committed: all that was committed before it began is applied. */
  get caughtUp(): boolean {
    return this.#registration.everDone;
  }

  /** From now on the log takes proposals. Does nothing the second time. */
  start(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#register();
  }

  propose(proposed: Proposed, timeoutMs: number): Promise<CommitResult> {
    if (this.#stopped) return this.#refuse(new StoreError('Stopped', 'the store is stopped'));
    const oldest = this.#pending.keys().next().value ?? this.#sequence;
    if (
      this.#pending.size >= this.pendingMax ||
      this.#sequence - oldest >= SEQUENCE_WINDOW - this.pendingMax
    ) {
      const message = `${this.#pending.size} commits are waiting for their outcome`;
      return this.#refuse(new StoreError('Overloaded', message));
    }
    this.#sequence += 1;
    const sequence = this.#sequence;
    const id = { proposer: this.#registration.proposer ?? UNNAMED, sequence };
    const bytes = encodeCommand(commandOf(proposed, id, this.time.nowMs()));
    if (bytes.length > COMMIT_BYTES_MAX) {
      const message = `the commit has ${bytes.length} bytes, at most ${COMMIT_BYTES_MAX} are taken`;
      return this.#refuse(new StoreError('TooLarge', message));
    }
    return new Promise((resolve, reject) => {
      const startedMs = this.clock.monotonicMs();
      const pending: Pending = {
        sequence,
        bytes,
        open: [],
        retryAtMs: startedMs,
        proposer: undefined,
        startedMs,
        deadlineMs: startedMs + timeoutMs,
        operationCount: proposed.kind === 'txn' ? proposed.operations.length : 1,
        resolve,
        reject,
      };
      this.#pending.set(sequence, pending);
      this.#try(pending, startedMs);
      this.#arm();
    });
  }

  /** A command was applied: if it is one of ours, its caller gets the result. */
  settle(applied: Applied): void {
    if (applied.registration) {
      this.#registered(applied.proposer, applied.registration);
      return;
    }
    const pending = this.#pending.get(applied.sequence);
    if (!pending || pending.proposer !== applied.proposer) return;
    if (!applied.result) {
      this.#evicted(applied.proposer);
      return;
    }
    this.#forget(pending);
    this.observer?.committed(this.clock.monotonicMs() - pending.startedMs, pending.operationCount);
    pending.resolve(applied.result);
  }

  refused(ids: readonly number[], error: LogError): void {
    const nowMs = this.clock.monotonicMs();
    for (const id of ids) {
      const command = this.#attempts.refused(id);
      if (!command) continue;
      const final = refusalOf(error, command.open.length > 0);
      if (final && !(command instanceof Registration)) {
        this.#fail(command, final);
      } else if (this.#leader !== undefined) {
        command.retryAtMs = Math.min(command.retryAtMs, nowMs + REPROPOSE_DELAY_MS);
      }
    }
  }

  /** There is another leader: what was under way may be lost. */
  led({ leader, term }: Leadership): void {
    const same = leader === this.#leader && term === this.#term;
    this.#leader = leader;
    this.#term = term;
    if (same || leader === undefined) return;
    const nowMs = this.clock.monotonicMs();
    this.#tryRegistration(nowMs);
    for (const pending of this.#pending.values()) this.#try(pending, nowMs);
  }

  /** The state was replaced by a newer one: results of what was applied in between cannot be known. */
  replaced(machine: StateMachine): void {
    const { proposer } = this.#registration;
    if (proposer === undefined) {
      const found = machine.proposers.idOf(this.#registration.nonce);
      if (found !== undefined) this.#nowRegistered(found);
      return;
    }
    const window = machine.proposers.get(proposer);
    if (!window) this.#evicted(proposer);
    for (const pending of [...this.#pending.values()]) {
      if (pending.proposer === proposer && window?.hasSeen(pending.sequence)) {
        this.#fail(pending, missedResult());
      }
    }
  }

  /** No result can come any more: what may have been taken has an unknown outcome. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    for (const pending of [...this.#pending.values()]) {
      this.#fail(pending, stopped(pending.open.length > 0));
    }
  }

  #try(pending: Pending, nowMs: number): void {
    const { proposer } = this.#registration;
    if (proposer === undefined || !this.#running) return;
    if (pending.proposer === undefined) {
      pending.proposer = proposer;
      setProposer(pending.bytes, proposer);
    }
    this.#attempts.send(pending, nowMs + REPROPOSE_SILENCE_MS);
  }

  #registered(nonce: string, { proposer, evicted: gone }: Registered): void {
    if (nonce === this.#registration.nonce) this.#nowRegistered(proposer);
    if (gone !== undefined) this.#evicted(gone);
  }

  #register(): void {
    const nowMs = this.clock.monotonicMs();
    this.#registration.begin(nowMs, this.time.nowMs());
    this.#tryRegistration(nowMs);
    this.#arm();
  }

  /** What became of earlier tries does not matter: registering twice gives the same id. */
  #tryRegistration(nowMs: number): void {
    if (this.#registration.proposer !== undefined || !this.#running) return;
    this.#attempts.forget(this.#registration);
    this.#attempts.send(this.#registration, nowMs + REPROPOSE_SILENCE_MS);
  }

  #nowRegistered(proposer: string): void {
    if (this.#registration.proposer !== undefined) return;
    this.#attempts.forget(this.#registration);
    this.#registration.done(proposer);
    const nowMs = this.clock.monotonicMs();
    for (const pending of this.#pending.values()) this.#try(pending, nowMs);
  }

  /** Nothing that was proposed under this id is applied from now on. */
  #evicted(proposer: string): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.proposer === proposer) this.#fail(pending, evicted());
    }
    if (proposer === this.#registration.proposer) this.#register();
  }

  #arm(): void {
    if (this.#stopped || !this.#running) return;
    this.#timer ??= this.clock.setTimer(PROPOSAL_SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#timer = undefined;
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.#registration.retryAtMs) this.#tryRegistration(nowMs);
    for (const pending of this.#pending.values()) {
      if (nowMs >= pending.deadlineMs) this.#fail(pending, timedOut(pending.open.length > 0));
      else if (nowMs >= pending.retryAtMs) this.#try(pending, nowMs);
    }
    if (this.#pending.size > 0 || this.#registration.proposer === undefined) this.#arm();
  }

  #fail(pending: Pending, error: StoreError): void {
    if (!this.#forget(pending)) return;
    this.observer?.commitFailed(error.code);
    pending.reject(error);
  }

  #forget(pending: Pending): boolean {
    this.#attempts.forget(pending);
    return this.#pending.delete(pending.sequence);
  }

  #refuse(error: StoreError): Promise<never> {
    this.observer?.commitFailed(error.code);
    return Promise.reject(error);
  }
}

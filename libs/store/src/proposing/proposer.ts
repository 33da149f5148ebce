/**
 * Proposes this replica's commands and settles each from its own applied command. A command that
 * may be lost (the leader changed, no response arrived) is proposed again under the same id until
 * its deadline; the state machine applies an id once. A caller gets `Unavailable` only if the
 * command certainly had no effect.
 *
 * Commands wait until this process life is registered. Registration is a log entry before them, so
 * that the state always records that a command was applied.
 */

import type { Clock, Timer } from '@orch/component';
import type { Leadership, LogError, MemberId, ReplicatedLog, Term } from '@orch/raft';
import { asTerm } from '@orch/raft';
import { encodeCommand, setProposer } from '../core/command.js';
import type { Registration as Registered } from '../core/proposer-table.js';
import type { Applied, StateMachine } from '../core/state-machine.js';
import {
  commitBytesMax,
  proposalSweepMs,
  reproposeDelayMs,
  reproposeSilenceMs,
  sequenceWindow,
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
  /** Undefined until the proposer is registered and the command was attempted. */
  proposer: string | undefined;
  readonly startedMs: number;
  readonly deadlineMs: number;
  readonly operationCount: number;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: StoreError) => void;
}

const unnamedProposer = '0'.repeat(16);

export class Proposer {
  private readonly registration: Registration;
  private readonly attempts: Attempts<Pending | Registration>;
  /** By sequence, oldest first. */
  private readonly pending = new Map<number, Pending>();
  private sequence = 0;
  private timer: Timer | undefined;
  private leader: MemberId | undefined;
  private term: Term = asTerm(0);
  private running = false;
  private stopped = false;

  constructor(
    log: ReplicatedLog,
    private readonly clock: Clock,
    private readonly time: StoreTime,
    random: () => number,
    private readonly observer: StoreObserver | undefined,
    private readonly pendingMax: number,
  ) {
    this.attempts = new Attempts(log);
    this.registration = new Registration(random);
  }

  /** Whether a command of this process life was applied, and so every command before its start. */
  get caughtUp(): boolean {
    return this.registration.everDone;
  }

  /** The log accepts proposals from now on. Further calls have no effect. */
  start(): void {
    if (this.running || this.stopped) return;
    this.running = true;
    this.register();
  }

  propose(proposed: Proposed, timeoutMs: number): Promise<CommitResult> {
    if (this.stopped) return this.refuse(new StoreError('Stopped', 'the store is stopped'));
    const oldest = this.pending.keys().next().value ?? this.sequence;
    if (
      this.pending.size >= this.pendingMax ||
      this.sequence - oldest >= sequenceWindow - this.pendingMax
    ) {
      const message = `${this.pending.size} commits wait for their outcome, the limit is ${this.pendingMax}: retry later`;
      return this.refuse(new StoreError('Overloaded', message));
    }
    this.sequence += 1;
    const sequence = this.sequence;
    const id = { proposer: this.registration.proposer ?? unnamedProposer, sequence };
    const bytes = encodeCommand(commandOf(proposed, id, this.time.nowMs()));
    if (bytes.length > commitBytesMax) {
      const message = `the commit has ${bytes.length} bytes, the limit is ${commitBytesMax}: split it`;
      return this.refuse(new StoreError('TooLarge', message));
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
      this.pending.set(sequence, pending);
      this.try(pending, startedMs);
      this.arm();
    });
  }

  /** A command was applied: passes the result to its caller if it is one of this replica. */
  settle(applied: Applied): void {
    if (applied.registration) {
      this.registered(applied.proposer, applied.registration);
      return;
    }
    const pending = this.pending.get(applied.sequence);
    if (!pending || pending.proposer !== applied.proposer) return;
    if (!applied.result) {
      this.evicted(applied.proposer);
      return;
    }
    this.forget(pending);
    this.observer?.committed(this.clock.monotonicMs() - pending.startedMs, pending.operationCount);
    pending.resolve(applied.result);
  }

  refused(ids: readonly number[], error: LogError): void {
    const nowMs = this.clock.monotonicMs();
    for (const id of ids) {
      const command = this.attempts.refused(id);
      if (!command) continue;
      const final = refusalOf(error, command.open.length > 0);
      if (final && !(command instanceof Registration)) {
        this.fail(command, final);
      } else if (this.leader !== undefined) {
        command.retryAtMs = Math.min(command.retryAtMs, nowMs + reproposeDelayMs);
      }
    }
  }

  /** Another replica leads: commands in flight may be lost. */
  led({ leader, term }: Leadership): void {
    const same = leader === this.leader && term === this.term;
    this.leader = leader;
    this.term = term;
    if (same || leader === undefined) return;
    const nowMs = this.clock.monotonicMs();
    this.tryRegistration(nowMs);
    for (const pending of this.pending.values()) this.try(pending, nowMs);
  }

  /** A newer state replaced the present one: results of commands applied in between are lost. */
  replaced(machine: StateMachine): void {
    const { proposer } = this.registration;
    if (proposer === undefined) {
      const found = machine.proposers.idOf(this.registration.nonce);
      if (found !== undefined) this.nowRegistered(found);
      return;
    }
    const window = machine.proposers.get(proposer);
    if (!window) this.evicted(proposer);
    for (const pending of [...this.pending.values()]) {
      if (pending.proposer === proposer && window?.hasSeen(pending.sequence)) {
        this.fail(pending, missedResult());
      }
    }
  }

  /** Fails all pending commits, with an unknown outcome if they may have been taken. */
  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    for (const pending of [...this.pending.values()]) {
      this.fail(pending, stopped(pending.open.length > 0));
    }
  }

  private try(pending: Pending, nowMs: number): void {
    const { proposer } = this.registration;
    if (proposer === undefined || !this.running) return;
    if (pending.proposer === undefined) {
      pending.proposer = proposer;
      setProposer(pending.bytes, proposer);
    }
    this.attempts.send(pending, nowMs + reproposeSilenceMs);
  }

  private registered(nonce: string, { proposer, evicted: gone }: Registered): void {
    if (nonce === this.registration.nonce) this.nowRegistered(proposer);
    if (gone !== undefined) this.evicted(gone);
  }

  private register(): void {
    const nowMs = this.clock.monotonicMs();
    this.registration.begin(nowMs, this.time.nowMs());
    this.tryRegistration(nowMs);
    this.arm();
  }

  /** Forgets earlier attempts: registering twice gives the same id. */
  private tryRegistration(nowMs: number): void {
    if (this.registration.proposer !== undefined || !this.running) return;
    this.attempts.forget(this.registration);
    this.attempts.send(this.registration, nowMs + reproposeSilenceMs);
  }

  private nowRegistered(proposer: string): void {
    if (this.registration.proposer !== undefined) return;
    this.attempts.forget(this.registration);
    this.registration.done(proposer);
    const nowMs = this.clock.monotonicMs();
    for (const pending of this.pending.values()) this.try(pending, nowMs);
  }

  /** No command of this id is applied from now on. */
  private evicted(proposer: string): void {
    for (const pending of [...this.pending.values()]) {
      if (pending.proposer === proposer) this.fail(pending, evicted());
    }
    if (proposer === this.registration.proposer) this.register();
  }

  private arm(): void {
    if (this.stopped || !this.running) return;
    this.timer ??= this.clock.setTimer(proposalSweepMs, () => this.sweep());
  }

  private sweep(): void {
    this.timer = undefined;
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.registration.retryAtMs) this.tryRegistration(nowMs);
    for (const pending of this.pending.values()) {
      if (nowMs >= pending.deadlineMs) this.fail(pending, timedOut(pending.open.length > 0));
      else if (nowMs >= pending.retryAtMs) this.try(pending, nowMs);
    }
    if (this.pending.size > 0 || this.registration.proposer === undefined) this.arm();
  }

  private fail(pending: Pending, error: StoreError): void {
    if (!this.forget(pending)) return;
    this.observer?.commitFailed(error.code);
    pending.reject(error);
  }

  private forget(pending: Pending): boolean {
    this.attempts.forget(pending);
    return this.pending.delete(pending.sequence);
  }

  private refuse(error: StoreError): Promise<never> {
    this.observer?.commitFailed(error.code);
    return Promise.reject(error);
  }
}

/**
 * Reads that this replica has asked its leader about. Each gets an answer: the leader's, or `ask again`
 * when the leader changes or does not answer within an election timeout.
 */
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { WAITING_READS_MAX } from './limits.js';
import type { ReadIndexResponse } from './types.js';

export class ForwardedReads {
  /** Tick at which each was asked, oldest first. */
  readonly #pending = new Map<number, number>();

  constructor(private readonly state: CoreState) {}

  ask(context: number): void {
    const { state } = this;
    const full = this.#pending.size >= WAITING_READS_MAX;
    if (!state.admitted || state.leader === undefined || full) {
      mark('readRefused');
      state.outbox.readStates.push({ context, index: undefined });
      return;
    }
    mark('readForwarded');
    this.#pending.set(context, state.tick);
    state.send({
      kind: 'readIndexRequest',
      from: state.id,
      to: state.leader,
      term: state.term,
      context,
    });
  }

  onResponse(message: ReadIndexResponse): void {
    if (!this.#pending.delete(message.context)) return;
    const { state } = this;
    // A leader of an earlier term may have been right when it answered; asking again is simpler to trust.
    const index = message.term < state.term ? undefined : message.index;
    state.outbox.readStates.push({ context: message.context, index });
  }

  tick(): void {
    const { state } = this;
    for (const [context, tick] of this.#pending) {
      if (state.tick - tick < state.options.electionTicks) break;
      this.#lose(context);
    }
  }

  loseAll(): void {
    for (const context of this.#pending.keys()) this.#lose(context);
  }

  #lose(context: number): void {
    mark('readForwardedLost');
    this.#pending.delete(context);
    this.state.outbox.readStates.push({ context, index: undefined });
  }
}

/**
 * Reads that this replica has forwarded to its leader. Each gets a result: the leader's response,
 * or a failure when the leader changes or does not respond within an election timeout.
 */

import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { waitingReadsMax } from '../limits.js';
import type { ReadIndexResponse } from '../messages.js';
import type { CoreState } from '../state/core-state.js';

export class ForwardedReads {
  /** Tick at which each was forwarded, oldest first. */
  private readonly pending = new Map<number, number>();

  constructor(private readonly state: CoreState) {}

  get isWaiting(): boolean {
    return this.pending.size > 0;
  }

  request(context: number): void {
    const { state } = this;
    const full = this.pending.size >= waitingReadsMax;
    if (!state.admitted || state.leader === undefined || full) {
      mark('readRefused');
      state.outbox.readStates.push({ context, index: undefined });
      return;
    }
    invariant(state.leader !== state.id, 'a leader forwards a read to itself');
    mark('readForwarded');
    this.pending.set(context, state.tick);
    state.send({
      kind: 'readIndexRequest',
      from: state.id,
      to: state.leader,
      term: state.term,
      context,
    });
  }

  onResponse(message: ReadIndexResponse): void {
    if (!this.pending.delete(message.context)) return;
    const { state } = this;
    // The response of a leader of an earlier term may be right; a retry is simpler to trust.
    const index = message.term < state.term ? undefined : message.index;
    state.outbox.readStates.push({ context: message.context, index });
  }

  tick(): void {
    const { state } = this;
    for (const [context, tick] of this.pending) {
      invariant(tick <= state.tick, 'a read was forwarded in the future');
      if (state.tick - tick < state.options.electionTicks) break;
      this.expire(context);
    }
  }

  expireAll(): void {
    for (const context of this.pending.keys()) this.expire(context);
    invariant(this.pending.size === 0, 'a read waits for a leader that is lost');
  }

  private expire(context: number): void {
    mark('readForwardedLost');
    this.pending.delete(context);
    this.state.outbox.readStates.push({ context, index: undefined });
  }
}

/**
 * What the leader's store proposes by itself: compaction of history past its retention, and the end
 * of keys whose time to live has passed. Every replica runs it; only the leader's proposes.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import type { Proposer } from './proposer.js';
import type { RevisionTimes } from './revision-times.js';

export interface MaintenanceOptions {
  readonly historyRetentionMs: number;
  readonly compactionIntervalMs: number;
  readonly expiryIntervalMs: number;
}

const PROPOSAL_TIMEOUT_MS = 10_000;
/** Expire commands of one round; each deletes up to `OPERATIONS_MAX` keys. */
const EXPIRE_ROUNDS_MAX = 64;

export class Maintenance {
  #timer: Timer | undefined;
  #stopped = false;
  #compactedAtMs: number;

  constructor(
    private readonly machine: StateMachine,
    private readonly times: RevisionTimes,
    private readonly proposer: Proposer,
    private readonly log: ReplicatedLog,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: MaintenanceOptions,
  ) {
    this.#compactedAtMs = clock.monotonicMs();
  }

  start(): void {
    this.#timer = this.clock.setTimer(this.options.expiryIntervalMs, () => void this.#round());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #round(): Promise<void> {
    this.times.note(this.clock.monotonicMs(), this.machine.revision);
    try {
      if (this.log.status().role === 'leader') {
        await this.#expire();
        await this.#compact();
      }
    } catch (error) {
      // The next round tries again: both are conditions on the state, not events.
      if (!(error instanceof StoreError)) throw error;
      if (!this.#stopped) this.logger.warn({ error }, 'store maintenance put off');
    }
    if (!this.#stopped) this.start();
  }

  async #expire(): Promise<void> {
    for (let round = 0; round < EXPIRE_ROUNDS_MAX && !this.#stopped; round += 1) {
      const nextMs = this.machine.expiry.nextMs;
      if (nextMs === undefined || nextMs > this.clock.nowMs()) return;
      await this.proposer.propose({ kind: 'expire' }, PROPOSAL_TIMEOUT_MS);
    }
  }

  async #compact(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.#compactedAtMs < this.options.compactionIntervalMs) return;
    this.#compactedAtMs = nowMs;
    const revision = this.times.before(nowMs - this.options.historyRetentionMs);
    if (revision <= this.machine.compactedRevision) return;
    await this.proposer.propose({ kind: 'compact', revision }, PROPOSAL_TIMEOUT_MS);
    this.logger.debug({ revision }, 'history compacted');
  }
}

/**
 * What the leader's store proposes by itself: compaction of history past its retention, the end of
 * keys whose time to live has passed, a state hash when none was for a while. Every replica runs it;
 * only the leader's proposes.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import type { HashAudit } from './hash-audit.js';
import type { Proposer } from './proposer.js';
import type { RevisionTimes } from './revision-times.js';
import type { StoreTime } from './store-time.js';

export interface MaintenanceOptions {
  readonly historyRetentionMs: number;
  readonly compactionIntervalMs: number;
  readonly expiryIntervalMs: number;
}

export interface MaintenanceParts {
  readonly times: RevisionTimes;
  readonly time: StoreTime;
  readonly proposer: Proposer;
  readonly audit: HashAudit;
  readonly log: ReplicatedLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PROPOSAL_TIMEOUT_MS = 10_000;
/** Expire commands of one round; each deletes up to `OPERATIONS_MAX` keys. */
const EXPIRE_ROUNDS_MAX = 64;

export class Maintenance {
  #timer: Timer | undefined;
  #stopped = false;
  #compactedAtMs: number;

  constructor(
    /** The state in use; undefined while there is none. */
    private readonly machine: () => StateMachine | undefined,
    private readonly parts: MaintenanceParts,
    private readonly options: MaintenanceOptions,
  ) {
    this.#compactedAtMs = parts.clock.monotonicMs();
  }

  start(): void {
    this.#timer = this.parts.clock.setTimer(
      this.options.expiryIntervalMs,
      () => void this.#round(),
    );
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #round(): Promise<void> {
    const machine = this.machine();
    try {
      if (machine) {
        this.parts.times.note(this.parts.clock.monotonicMs(), machine.revision);
        if (this.parts.log.status().role === 'leader') {
          await this.#expire();
          await this.#compact();
          this.parts.audit.leaderRound();
        }
      }
    } catch (error) {
      // The next round tries again: all are conditions on the state, not events.
      if (!(error instanceof StoreError)) throw error;
      if (!this.#stopped) this.parts.logger.warn({ error }, 'store maintenance put off');
    }
    if (!this.#stopped) this.start();
  }

  async #expire(): Promise<void> {
    for (let round = 0; round < EXPIRE_ROUNDS_MAX && !this.#stopped; round += 1) {
      const nextMs = this.machine()?.expiry.nextMs;
      if (nextMs === undefined || nextMs > this.parts.time.nowMs()) return;
      await this.parts.proposer.propose({ kind: 'expire' }, PROPOSAL_TIMEOUT_MS);
    }
  }

  async #compact(): Promise<void> {
    const nowMs = this.parts.clock.monotonicMs();
    if (nowMs - this.#compactedAtMs < this.options.compactionIntervalMs) return;
    this.#compactedAtMs = nowMs;
    const revision = this.parts.times.before(nowMs - this.options.historyRetentionMs);
    const machine = this.machine();
    if (!machine || revision <= machine.compactedRevision) return;
    await this.parts.proposer.propose({ kind: 'compact', revision }, PROPOSAL_TIMEOUT_MS);
    this.parts.logger.debug({ revision }, 'history compacted');
  }
}

/**
 * Proposes the leader's own commands: compaction of history past its retention, expiry of keys
 * whose time to live has ended, a state hash if none was reported for a while. Runs on every
 * replica; proposes on the leader only.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import type { Proposer } from '../proposing/proposer.js';
import type { StoreTime } from '../proposing/store-time.js';
import type { RevisionTimes } from '../reading/revision-times.js';
import { StoreError } from '../versioned-store.js';
import type { HashAudit } from './hash-audit.js';

export interface MaintenanceOptions {
  readonly historyRetentionMs: number;
  readonly compactionIntervalMs: number;
  readonly expiryIntervalMs: number;
}

export interface MaintenanceDependencies {
  readonly times: RevisionTimes;
  readonly time: StoreTime;
  readonly proposer: Proposer;
  readonly audit: HashAudit;
  readonly log: ReplicatedLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

const proposalTimeoutMs = 10_000;
/** Expire commands of one round; each deletes up to `operationsMax` keys. */
const expireRoundsMax = 64;

export class Maintenance {
  private timer: Timer | undefined;
  private stopped = false;
  private compactedAtMs: number;

  constructor(
    /** Returns the state in use; undefined if there is none. */
    private readonly machine: () => StateMachine | undefined,
    private readonly dependencies: MaintenanceDependencies,
    private readonly options: MaintenanceOptions,
  ) {
    this.compactedAtMs = dependencies.clock.monotonicMs();
  }

  start(): void {
    const { clock } = this.dependencies;
    this.timer = clock.setTimer(this.options.expiryIntervalMs, () => void this.round());
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private async round(): Promise<void> {
    const { times, clock, log, audit, logger } = this.dependencies;
    const machine = this.machine();
    try {
      if (machine) {
        times.note(clock.monotonicMs(), machine.revision);
        if (log.status().role === 'leader') {
          await this.expire();
          await this.compact();
          audit.leaderRound();
        }
      }
    } catch (error) {
      // The next round retries: each step depends on the state, not on an event.
      if (!(error instanceof StoreError)) throw error;
      if (!this.stopped) logger.warn({ error }, 'store maintenance is put off to the next round');
    }
    if (!this.stopped) this.start();
  }

  private async expire(): Promise<void> {
    const { time, proposer } = this.dependencies;
    for (let round = 0; round < expireRoundsMax && !this.stopped; round += 1) {
      const nextMs = this.machine()?.expiry.nextMs;
      if (nextMs === undefined || nextMs > time.nowMs()) return;
      await proposer.propose({ kind: 'expire' }, proposalTimeoutMs);
    }
  }

  private async compact(): Promise<void> {
    const { clock, times, proposer, logger } = this.dependencies;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.compactedAtMs < this.options.compactionIntervalMs) return;
    this.compactedAtMs = nowMs;
    const revision = times.before(nowMs - this.options.historyRetentionMs);
    const machine = this.machine();
    if (!machine || revision <= machine.compactedRevision) return;
    await proposer.propose({ kind: 'compact', revision }, proposalTimeoutMs);
    logger.debug({ revision }, 'history compacted');
  }
}

/** The limits and times of a simulated cluster, drawn from the seed. */
import { commandBytesMax, type ReplicaTuning } from '@orch/raft';
import type { StoreOptions } from '@orch/store';
import type { Random } from './random.js';

export interface Tuning {
  readonly replica: Partial<ReplicaTuning> & Pick<ReplicaTuning, 'electionMs' | 'heartbeatMs'>;
  readonly store: Partial<StoreOptions>;
  /** The maximum deviation of the rate of a clock from 1. */
  readonly clockRate: number;
  readonly wallSpreadMs: number;
  readonly clientPauseMs: number;
  /** The duration of an unsynced write. */
  readonly writeMs: readonly [least: number, most: number];
}

const kib = 1024;

/** Draws small limits, so that rare conditions occur in every run. */
export function drawTuning(random: Random): Tuning {
  const heartbeatMs = random.pick([20, 50, 100]);
  const entries = random.pick([8, 64, 1_000]);
  const logKeepEntries = random.pick([5, 50, 400]);
  const retentionMs = random.pick([1_000, 5_000, 60_000]);
  return {
    replica: {
      heartbeatMs,
      electionMs: heartbeatMs * random.pick([5, 10]),
      logKeepEntries: random.pick([0, 20, 200]),
      inFlightMessagesMax: random.pick([1, 4, 64]),
      uncommittedBytesMax: random.pick([commandBytesMax, 64 * 1024 * kib]),
      appendEntriesMax: random.pick([1, 8, 512]),
      cacheEntriesMax: random.pick([4, 64, 20_000]),
      unappliedEntriesMax: random.pick([16, 4_096]),
      heldMessagesMax: random.pick([12, 16_384]),
      promoteLagMax: random.pick([10, 1_000]),
      leaseReads: random.chance(0.15),
    },
    store: {
      historyRetentionMs: retentionMs,
      compactionIntervalMs: random.pick([300, 2_000, 10_000]),
      expiryIntervalMs: random.pick([200, 1_000]),
      ringEventsMax: entries,
      ringBytesMax: random.pick([4 * kib, 1024 * kib]),
      logKeepEntries,
      hashIntervalEntries: random.pick([20, 200]),
      quotaBytes: random.chance(0.15) ? 60 * kib : 64 * 1024 * kib,
    },
    clockRate: random.pick([0, 0.02, 0.1]),
    wallSpreadMs: random.pick([0, 500, 3_600_000]),
    clientPauseMs: random.pick([20, 100, 400]),
    writeMs: random.pick([
      [0, 0],
      [0.05, 5],
    ] as const),
  };
}

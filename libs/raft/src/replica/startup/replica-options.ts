/** Settings of a replica and its initial cluster. */

import { isVerifying } from '@orch/component';
import { asMemberId } from '../../core/brands.js';
import type { CoreOptions } from '../../core/core-options.js';
import { commandBytesMax } from '../../core/limits.js';
import { batchBytesMax } from '../../limits.js';
import type { InitialMember } from './bootstrap.js';

/** Identity of this replica. Used when the directory is empty; later the directory contains it. */
export interface ReplicaIdentityOptions {
  readonly memberName: string;
  /** `https://host:port` at which other replicas reach this one. */
  readonly peerUrl: string;
  /** `https://host:port` of its API. */
  readonly clientUrl: string;
  /** `new`: all members of the new cluster, this one among them. `join`: members to query. */
  readonly initialMembers: readonly InitialMember[];
  readonly initialState: 'new' | 'join';
  /** Keeps clusters with the same members and addresses apart. */
  readonly clusterToken: string;
}

/** Options of the core that the replica derives from the tuning or provides itself. */
type DerivedOptions =
  | 'id'
  | 'verifies'
  | 'random'
  | 'heartbeatTicks'
  | 'idleHeartbeatTicks'
  | 'electionTicks'
  | 'slowDiskMs';

/**
 * The core's options, with times instead of ticks, and what the replica itself keeps. What some of
 * the core's cost: longer append messages hold up the heartbeats behind them, shorter ones are more
 * work for each entry; more uncommitted bytes are more to make good after a change of leadership,
 * fewer are earlier refusals; more unapplied ones are more memory, fewer are less overlap of disk
 * and applying; a larger promotion lag lets the cluster wait for a new voter to catch up.
 */
export interface ReplicaTuning extends Omit<CoreOptions, DerivedOptions> {
  /**
   * Between heartbeats of the leader. Higher: a dead leader is noticed later; lower: more messages,
   * and more elections for nothing on a slow network.
   */
  readonly heartbeatMs: number;
  /**
   * Without a word of the leader before an election; drawn from [n, 2n). Higher: longer without a
   * leader after its death; lower: elections for nothing when disk, network or processor stall.
   */
  readonly electionMs: number;
  /**
   * Entries kept behind what the state has on disk. Higher: more disk; lower: replicas that were
   * away for a moment are sent the whole state.
   */
  readonly logKeepEntries: number;
}

export const defaultReplicaTuning: ReplicaTuning = {
  heartbeatMs: 100,
  electionMs: 1_000,
  logKeepEntries: 10_000,
  inFlightMessagesMax: 64,
  inFlightBytesMax: 16 * 1024 * 1024,
  appendEntriesMax: 512,
  appendBytesMax: 1024 * 1024,
  uncommittedBytesMax: 64 * 1024 * 1024,
  unappliedEntriesMax: 4_096,
  unappliedBytesMax: 32 * 1024 * 1024,
  cacheEntriesMax: 20_000,
  cacheBytesMax: 64 * 1024 * 1024,
  heldMessagesMax: 16_384,
  promoteLagMax: 1_000,
  leaseReads: false,
};

const ticksPerHeartbeat = 2;
/**
 * Heartbeats of an idle leader in the shortest election timeout. Higher: more messages. Lower: a
 * shorter stall of the leader starts an election.
 */
const idleHeartbeatsPerElection = 4;

export function tickMsOf({ heartbeatMs }: ReplicaTuning): number {
  return heartbeatMs / ticksPerHeartbeat;
}

/** Throws RangeError when the figures do not fit together. */
export function checkTuning(tuning: ReplicaTuning): void {
  const { heartbeatMs, electionMs, uncommittedBytesMax, unappliedBytesMax } = tuning;
  if (!(heartbeatMs >= 1)) throw new RangeError('the heartbeat interval must be at least 1 ms');
  if (electionMs < 3 * heartbeatMs) {
    throw new RangeError('the election timeout must be at least three heartbeats');
  }
  if (uncommittedBytesMax < commandBytesMax || unappliedBytesMax < batchBytesMax) {
    throw new RangeError(
      'the bounds of uncommitted and unapplied bytes must hold the largest command',
    );
  }
}

export function coreOptions(tuning: ReplicaTuning, id: string, random: () => number): CoreOptions {
  const { heartbeatMs, electionMs, logKeepEntries: _kept, ...core } = tuning;
  const electionTicks = Math.round(electionMs / tickMsOf(tuning));
  return {
    ...core,
    id: asMemberId(id),
    random,
    heartbeatTicks: ticksPerHeartbeat,
    idleHeartbeatTicks: Math.max(
      ticksPerHeartbeat,
      Math.floor(electionTicks / idleHeartbeatsPerElection),
    ),
    electionTicks,
    slowDiskMs: electionMs / 2,
    verifies: isVerifying(),
  };
}

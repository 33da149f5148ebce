/**
 * Compares the replicas' state hashes. Every replica reports, in the log, its running hash at
 * certain entries. If a majority of the voters report the same hash and this replica has another,
 * it has diverged. Only hashes that this process life computed count, so that the reports of a
 * discarded state do not count against the one that replaced it.
 */
import type { Clock, Logger } from '@orch/component';
import type { Member, ReplicatedLog } from '@orch/raft';
import type { HashReport } from '../core/command.js';
import type { StateMachine } from '../core/state-machine.js';
import { hashIntervalMs, hashReportsMax, retainedHashesMax } from '../limits.js';
import type { Proposer } from '../proposing/proposer.js';
import { StoreError } from '../versioned-store.js';

const proposalTimeoutMs = 30_000;

export class HashAudit {
  private readonly own = new Uint32Array(retainedHashesMax);
  /** Own hashes are in memory for the entries from here up to `lastIndex`. */
  private firstIndex = 1;
  private lastIndex = 0;
  private revision = 0;
  private reportedIndex = 0;
  private reportedRevision = 0;
  private reportedAtMs: number;
  /** Reported hashes of the members by index, oldest first. */
  private readonly reports = new Map<number, Map<string, number>>();

  constructor(
    private readonly log: ReplicatedLog,
    private readonly proposer: Proposer,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly intervalEntries: number,
    private readonly onDiverged: (message: string) => void,
  ) {
    this.reportedAtMs = clock.monotonicMs();
  }

  /** Continues with this state. */
  restart({ appliedIndex, revision }: StateMachine): void {
    this.firstIndex = appliedIndex + 1;
    this.lastIndex = appliedIndex;
    this.revision = revision;
    this.reportedRevision = revision;
  }

  /** The next entry was applied. */
  applied({ appliedIndex, hash, revision }: StateMachine): void {
    this.own[appliedIndex % retainedHashesMax] = hash;
    this.lastIndex = appliedIndex;
    this.revision = revision;
    if (appliedIndex % this.intervalEntries === 0) this.report(appliedIndex);
  }

  /** A replica's report was applied. */
  reported({ index, hash, member }: HashReport): void {
    let reports = this.reports.get(index);
    if (!reports) {
      reports = new Map();
      this.reports.set(index, reports);
      const oldest = this.reports.keys().next();
      if (this.reports.size > hashReportsMax) this.reports.delete(oldest.value!);
    }
    reports.set(member, hash);
    const own = this.ownAt(index);
    if (own === undefined) return;
    if (index > this.reportedIndex) this.report(index);
    if (hash !== own) this.compare(index, hash, own, reports);
  }

  /** Called periodically on the leader: starts a comparison if the last one is too long ago. */
  leaderRound(): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.reportedAtMs < hashIntervalMs) return;
    if (this.revision !== this.reportedRevision) this.report(this.lastIndex);
  }

  private report(index: number): void {
    const hash = this.ownAt(index);
    // A replay of old entries is not reported again.
    if (hash === undefined || !this.proposer.caughtUp) return;
    this.reportedIndex = index;
    this.reportedRevision = this.revision;
    this.reportedAtMs = this.clock.monotonicMs();
    const member = this.log.status().self.id;
    this.proposer
      .propose({ kind: 'hash', index, hash, member }, proposalTimeoutMs)
      .catch((error: unknown) => this.logger.debug({ error, index }, 'state hash not reported'));
  }

  private ownAt(index: number): number | undefined {
    const oldest = Math.max(this.firstIndex, this.lastIndex - retainedHashesMax + 1);
    return index < oldest || index > this.lastIndex
      ? undefined
      : this.own[index % retainedHashesMax];
  }

  private compare(
    index: number,
    hash: number,
    own: number,
    reports: ReadonlyMap<string, number>,
  ): void {
    const { self, configuration } = this.log.status();
    const { voters, outgoing } = configuration;
    const agree = (members: readonly Member[]) =>
      members.filter(({ id }) => id !== self.id && reports.get(id) === hash).length * 2 >
      members.length;
    if (!agree(voters) || (outgoing && !agree(outgoing))) return;
    this.onDiverged(
      `the state of this replica has diverged: at entry ${index} its hash is ${formatHash(own)}, a majority has ${formatHash(hash)}`,
    );
  }
}

export function formatHash(hash: number): string {
  return hash.toString(16).padStart(8, '0');
}

/** The state is unusable; if there are other voters, their snapshot replaces it. */
export function divergedError(message: string, hasOthers: boolean): StoreError {
  const cure = hasOthers
    ? 'at its next start it fetches the state from the leader'
    : 'restore this data directory from a backup';
  return new StoreError('Corrupt', `${message}: ${cure}`);
}

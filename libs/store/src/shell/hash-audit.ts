/**
 * Compares the replicas' state hashes. Every replica reports, in the log, what its running hash was
 * at certain entries; when a majority of the voters agree on one that is not this replica's own, this
 * replica has diverged. Own hashes count only as this process life has computed them, so that the
 * reports of a state that was thrown away since do not count against the one that replaced it.
 */
import type { Clock, Logger } from '@orch/component';
import type { Member, ReplicatedLog } from '@orch/raft';
import type { HashReport } from '../core/command.js';
import type { StateMachine } from '../core/state-machine.js';
import { HASH_INTERVAL_MS, HASH_REPORTS_MAX, HASHES_KEPT } from '../limits.js';
import { StoreError } from '../versioned-store.js';
import type { Proposer } from './proposer.js';

const PROPOSAL_TIMEOUT_MS = 30_000;

export class HashAudit {
  readonly #own = new Uint32Array(HASHES_KEPT);
  /** Own hashes are known of the entries from here up to `#lastIndex`. */
  #firstIndex = 1;
  #lastIndex = 0;
  #revision = 0;
  #reportedIndex = 0;
  #reportedRevision = 0;
  #reportedAtMs: number;
  /** By index, oldest first: what each member has reported. */
  readonly #reports = new Map<number, Map<string, number>>();

  constructor(
    private readonly log: ReplicatedLog,
    private readonly proposer: Proposer,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly intervalEntries: number,
    private readonly onDiverged: (message: string) => void,
  ) {
    this.#reportedAtMs = clock.monotonicMs();
  }

  /** The state is now this one; what comes is applied to it. */
  restart({ appliedIndex, revision }: StateMachine): void {
    this.#firstIndex = appliedIndex + 1;
    this.#lastIndex = appliedIndex;
    this.#revision = revision;
    this.#reportedRevision = revision;
  }

  /** The next entry was applied. */
  applied({ appliedIndex, hash, revision }: StateMachine): void {
    this.#own[appliedIndex % HASHES_KEPT] = hash;
    this.#lastIndex = appliedIndex;
    this.#revision = revision;
    if (appliedIndex % this.intervalEntries === 0) this.#report(appliedIndex);
  }

  /** A replica's report was applied. */
  reported({ index, hash, member }: HashReport): void {
    let reports = this.#reports.get(index);
    if (!reports) {
      reports = new Map();
      this.#reports.set(index, reports);
      const oldest = this.#reports.keys().next();
      if (this.#reports.size > HASH_REPORTS_MAX) this.#reports.delete(oldest.value!);
    }
    reports.set(member, hash);
    const own = this.#ownAt(index);
    if (own === undefined) return;
    if (index > this.#reportedIndex) this.#report(index);
    if (hash !== own) this.#judge(index, hash, own, reports);
  }

  /** Called now and then at the leader: starts a comparison when there was none for a while. */
  leaderRound(): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.#reportedAtMs < HASH_INTERVAL_MS) return;
    if (this.#revision !== this.#reportedRevision) this.#report(this.#lastIndex);
  }

  #report(index: number): void {
    const hash = this.#ownAt(index);
    // A replay of what is long past is no news to anybody.
    if (hash === undefined || !this.proposer.caughtUp) return;
    this.#reportedIndex = index;
    this.#reportedRevision = this.#revision;
    this.#reportedAtMs = this.clock.monotonicMs();
    const member = this.log.status().self.id;
    this.proposer
      .propose({ kind: 'hash', index, hash, member }, PROPOSAL_TIMEOUT_MS)
      .catch((error: unknown) => this.logger.debug({ error, index }, 'state hash not reported'));
  }

  #ownAt(index: number): number | undefined {
    const oldest = Math.max(this.#firstIndex, this.#lastIndex - HASHES_KEPT + 1);
    return index < oldest || index > this.#lastIndex ? undefined : this.#own[index % HASHES_KEPT];
  }

  #judge(index: number, hash: number, own: number, reports: ReadonlyMap<string, number>): void {
    const { self, configuration } = this.log.status();
    const { voters, outgoing } = configuration;
    const agree = (members: readonly Member[]) =>
      members.filter(({ id }) => id !== self.id && reports.get(id) === hash).length * 2 >
      members.length;
    if (!agree(voters) || (outgoing && !agree(outgoing))) return;
    this.onDiverged(
      `the state of this replica has diverged: at entry ${index} its hash is ${hex(own)}, a majority has ${hex(hash)}`,
    );
  }
}

export function hex(hash: number): string {
  return hash.toString(16).padStart(8, '0');
}

/** The state cannot be used any more; with other voters a snapshot of theirs replaces it. */
export function divergedError(message: string, hasOthers: boolean): StoreError {
  const cure = hasOthers
    ? 'at its next start it fetches the state from the leader'
    : 'restore this data directory from a backup';
  return new StoreError('Corrupt', `${message}: ${cure}`);
}

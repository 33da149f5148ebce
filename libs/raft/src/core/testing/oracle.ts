/**
 * Sees all replicas and checks the guarantees of Raft: one leader per term; same index and term
 * means same entry; a leader has all committed entries; all states get the same entries; committed
 * entries are never lost; reads are never stale. Throws at the first violation.
 */
import { asLogIndex, noIndex, previousIndex } from '../brands.js';
import { isQuorum } from '../configuration/quorum.js';
import type { CoreStatus } from '../status.js';
import type { Entry, LogIndex, LogPoint, MemberId, Term } from '../types.js';
import type { TestReplica } from './test-replica.js';

export class Oracle {
  private readonly leaders = new Map<Term, MemberId>();
  /** Entries that some state was given or some leader called committed, by index. */
  private readonly committed: { readonly term: Term; readonly checksum: number }[] = [];
  /** Checksum by index and term of every entry seen in any log. */
  private readonly entries = new Map<string, number>();
  /** Commit index at the beginning of each read, by reader and context. */
  private readonly reads = new Map<string, LogIndex>();
  private readonly checked = new Map<
    TestReplica,
    { status: CoreStatus; entries: readonly Entry[] }
  >();

  get committedCount(): number {
    return this.committed.length;
  }

  get termCount(): number {
    return this.leaders.size;
  }

  beginRead(id: MemberId, context: number): void {
    this.reads.set(`${id}/${context}`, asLogIndex(this.committed.length));
  }

  /** Its process ended, and its callers with it. */
  forgetReads(id: MemberId): void {
    for (const key of this.reads.keys()) if (key.startsWith(`${id}/`)) this.reads.delete(key);
  }

  noteDelivered(id: MemberId, entry: Entry): void {
    const known = this.committed[entry.index - 1];
    if (!known) {
      if (entry.index !== this.committed.length + 1) {
        throw new Error(
          `${id} was given ${entry.index} before any replica committed the entry before it`,
        );
      }
      this.committed.push({ term: entry.term, checksum: entry.checksum });
    } else if (known.checksum !== entry.checksum || known.term !== entry.term) {
      throw new Error(`${id} was given another entry ${entry.index} than others`);
    }
  }

  noteOutput(replica: TestReplica, before: CoreStatus): void {
    const { seen } = replica;
    for (const { context, index } of seen.readStates.splice(0)) {
      const key = `${replica.id}/${context}`;
      const floor = this.reads.get(key);
      if (floor === undefined)
        throw new Error(`${replica.id} returns a read that was not requested`);
      this.reads.delete(key);
      if (index !== undefined && index < floor) {
        throw new Error(`${replica.id} reads at ${index}, but ${floor} was committed before`);
      }
    }
    const after = replica.core.status();
    if (after.commitIndex < before.commitIndex) throw new Error('the commit index falls');
    if (after.term < before.term) throw new Error('the term falls');
  }

  check(replicas: Iterable<TestReplica>): void {
    const all = [...replicas];
    for (const replica of all) {
      const status = replica.core.status();
      const previous = this.checked.get(replica);
      if (status.role === 'leader') this.checkLeader(replica, status, previous?.status, all);
      if (previous?.entries !== replica.disk.entries) this.checkLog(replica.disk.entries);
      else this.checkLog(replica.disk.entries.slice(-4));
      this.checked.set(replica, { status, entries: replica.disk.entries });
    }
  }

  private checkLeader(
    replica: TestReplica,
    status: CoreStatus,
    previous: CoreStatus | undefined,
    all: readonly TestReplica[],
  ): void {
    const known = this.leaders.get(status.term);
    if (known !== undefined && known !== replica.id) {
      throw new Error(`${known} and ${replica.id} both lead in term ${status.term}`);
    }
    const newlyElected = known === undefined;
    this.leaders.set(status.term, replica.id);
    if (newlyElected) this.checkComplete(replica, status);
    if (previous?.role === 'leader' && previous.term === status.term) {
      if (status.commitIndex > previous.commitIndex) this.noteCommit(replica, status, all);
    }
  }

  /** A new leader has all that was committed before. */
  private checkComplete(replica: TestReplica, status: CoreStatus): void {
    for (let index = this.committed.length; index >= status.firstIndex; index -= 1) {
      const point = pointOf(replica, asLogIndex(index));
      if (point?.checksum !== this.committed[index - 1]!.checksum) {
        throw new Error(`leader ${replica.id} of term ${status.term} lacks committed ${index}`);
      }
    }
  }

  /** What a leader calls committed is durable on a quorum, and counts from now on. */
  private noteCommit(replica: TestReplica, status: CoreStatus, all: readonly TestReplica[]): void {
    const point = pointOf(replica, status.commitIndex);
    if (!point) return;
    const holders = new Set(
      all
        .filter(
          (other) =>
            other.disk.start.index >= point.index ||
            other.entryAt(point.index)?.checksum === point.checksum,
        )
        .map((other) => other.id),
    );
    const { configuration } = status;
    const quorum = isQuorum(configuration, (id) => holders.has(id));
    // The configuration may have changed by this very commit.
    const { configurationIndex } = status;
    const before =
      configurationIndex > noIndex
        ? replica.core.configurationAt(previousIndex(configurationIndex))
        : undefined;
    if (!quorum && !(before && isQuorum(before, (id) => holders.has(id)))) {
      throw new Error(`${replica.id} commits ${point.index}, which no quorum has on disk`);
    }
    for (let index = this.committed.length + 1; index <= status.commitIndex; index += 1) {
      const entry = pointOf(replica, asLogIndex(index));
      if (!entry) throw new Error(`${replica.id} has no entry ${index} that it commits`);
      this.committed.push({ term: entry.term, checksum: entry.checksum });
    }
  }

  private checkLog(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const key = `${entry.index}/${entry.term}`;
      const known = this.entries.get(key);
      if (known === undefined) this.entries.set(key, entry.checksum);
      else if (known !== entry.checksum) throw new Error(`two entries ${entry.index} of one term`);
    }
  }
}

/** From memory, else from disk. */
function pointOf(replica: TestReplica, index: LogIndex): LogPoint | undefined {
  return replica.core.pointAt(index) ?? replica.entryAt(index);
}

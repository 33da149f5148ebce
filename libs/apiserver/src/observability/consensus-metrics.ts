/**
 * Metrics of consensus: the status of this replica, refreshed before metrics are rendered, and the
 * durations of its disk writes, network round trips and commits, recorded as they end.
 */
import type { Metrics } from '@orch/component';
import type { LogStatus, ReplicaObserver } from '@orch/raft';

/** Seconds: from a write to a cached disk to one that stalls. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];
const countBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export class ConsensusMetrics {
  /** The observer of the log. It exists before the log is opened. */
  readonly observer: ReplicaObserver;
  private readonly gauges;
  private readonly peerLag;
  private lastTerm = 0;

  constructor(metrics: Metrics) {
    const gauge = (name: string, help: string) => metrics.gauge({ name: `raft_${name}`, help });
    this.gauges = {
      leader: gauge('is_leader', '1 while this replica leads, else 0.'),
      hasLeader: gauge('has_leader', '1 while this replica knows a leader, else 0.'),
      learner: gauge('is_learner', '1 while this replica is a learner, else 0.'),
      term: gauge('term', 'Term of this replica.'),
      commit: gauge(
        'commit_index',
        'Newest log entry that is committed as far as this replica knows.',
      ),
      applied: gauge('applied_index', 'Newest log entry that this replica has applied.'),
      first: gauge('first_index', 'Oldest log entry retained.'),
      last: gauge('last_index', 'Newest log entry on this replica.'),
      pending: gauge('proposals_pending', 'Proposals of this replica without outcome.'),
      size: gauge('log_size_bytes', 'Bytes of the log on disk.'),
    };
    this.peerLag = metrics.gauge({
      name: 'raft_peer_lag_entries',
      help: 'At the leader: entries that a replica has not confirmed yet.',
      labels: ['peer'],
    });
    this.observer = observerOf(metrics, (term) => this.isNewTerm(term));
  }

  /** Before metrics are rendered. */
  refresh(status: LogStatus): void {
    const { gauges } = this;
    gauges.leader.set(status.role === 'leader' ? 1 : 0);
    gauges.hasLeader.set(status.leader === undefined ? 0 : 1);
    gauges.learner.set(status.role === 'learner' ? 1 : 0);
    gauges.term.set(status.term);
    gauges.commit.set(status.commitIndex);
    gauges.applied.set(status.appliedIndex);
    gauges.first.set(status.firstIndex);
    gauges.last.set(status.lastIndex);
    gauges.pending.set(status.proposalsPending);
    gauges.size.set(status.sizeBytes);
    this.peerLag.reset();
    for (const { id, matchIndex } of status.progress) {
      this.peerLag.set({ peer: id }, Math.max(0, status.lastIndex - matchIndex));
    }
  }

  private isNewTerm(term: number): boolean {
    const isNew = term !== this.lastTerm;
    this.lastTerm = term;
    return isNew;
  }
}

function observerOf(metrics: Metrics, isNewTerm: (term: number) => boolean): ReplicaObserver {
  const families = new Families(metrics);
  return { ...logObserver(families, isNewTerm), ...peerObserver(families) };
}

class Families {
  constructor(private readonly metrics: Metrics) {}

  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: readonly Label[] = [],
  ) {
    return this.metrics.histogram({ name: `raft_${name}`, help, buckets, labels });
  }

  counter<Label extends string = never>(name: string, help: string, labels: readonly Label[] = []) {
    return this.metrics.counter({ name: `raft_${name}`, help, labels });
  }
}

type LogEvents = 'synced' | 'leadershipChanged' | 'committed' | 'refused' | 'loopDelayed';

function logObserver(
  families: Families,
  isNewTerm: (term: number) => boolean,
): Pick<ReplicaObserver, LogEvents> {
  const sync = families.histogram(
    'log_sync_duration_seconds',
    'Time of one synced write of the log.',
    durationBuckets,
  );
  const batch = families.histogram(
    'log_sync_entries',
    'Entries in one synced write.',
    countBuckets,
  );
  const written = families.counter(
    'log_written_bytes_total',
    'Bytes of entries written to the log.',
  );
  const commit = families.histogram(
    'commit_duration_seconds',
    'At the leader: time from the write of entries to their commit.',
    durationBuckets,
  );
  const delay = families.histogram(
    'loop_delay_seconds',
    'Delay of the timers of the consensus thread.',
    durationBuckets,
  );
  const changes = families.counter(
    'leader_changes_total',
    'Leader changes that this replica has seen.',
  );
  const failed = families.counter('proposals_failed_total', 'Failed proposals, by cause.', [
    'code',
  ]);
  return {
    synced(entryCount, byteCount, durationMs) {
      sync.observe(durationMs / 1_000);
      batch.observe(entryCount);
      written.inc(byteCount);
    },
    leadershipChanged({ term, leader }) {
      if (leader !== undefined && isNewTerm(term)) changes.inc();
    },
    committed: (durationMs) => commit.observe(durationMs / 1_000),
    refused: (count, code) => failed.inc({ code }, count),
    loopDelayed: (durationMs) => delay.observe(durationMs / 1_000),
  };
}

function peerObserver(families: Families): Omit<ReplicaObserver, LogEvents> {
  const roundTrip = families.histogram(
    'peer_round_trip_duration_seconds',
    'Time of a network round trip to a replica.',
    durationBuckets,
    ['peer'],
  );
  const sent = families.counter('peer_sent_bytes_total', 'Bytes of messages to a replica.', [
    'peer',
  ]);
  const received = families.counter(
    'peer_received_bytes_total',
    'Bytes of messages from a replica.',
    ['peer'],
  );
  const dropped = families.counter(
    'peer_dropped_messages_total',
    'Messages to or from a replica that this replica dropped, by cause.',
    ['peer', 'reason'],
  );
  const snapshotBytes = families.counter(
    'snapshot_bytes_total',
    'Bytes of snapshots to and from replicas.',
    ['direction', 'peer'],
  );
  const snapshots = families.counter(
    'snapshots_total',
    'Snapshots to and from replicas, by outcome.',
    ['direction', 'peer', 'outcome'],
  );
  return {
    roundTrip: (peer, durationMs) => roundTrip.observe({ peer }, durationMs / 1_000),
    peerSent: (peer, byteCount) => sent.inc({ peer }, byteCount),
    peerReceived: (peer, byteCount) => received.inc({ peer }, byteCount),
    peerDropped: (peer, messageCount, reason) => dropped.inc({ peer, reason }, messageCount),
    snapshotBytes: (direction, peer, byteCount) =>
      snapshotBytes.inc({ direction, peer }, byteCount),
    snapshotEnded: (direction, peer, succeeded) =>
      snapshots.inc({ direction, peer, outcome: succeeded ? 'done' : 'failed' }),
  };
}

/**
 * Metrics of consensus under their own names: where this replica stands, told when metrics are asked
 * for, and how long its disk, its network and its commits take, told as they happen.
 */
import type { Metrics } from '@orch/component';
import type { LogStatus, ReplicaObserver } from '@orch/raft';

/** Seconds: from a write to a cached disk to one that stalls. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];
const countBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export class ConsensusMetrics {
  /** For the log, which is opened before anything it can be asked. */
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
      commit: gauge('commit_index', 'Newest log entry that this replica knows to be committed.'),
      applied: gauge('applied_index', 'Newest log entry that this replica has applied.'),
      first: gauge('first_index', 'Oldest log entry kept.'),
      last: gauge('last_index', 'Newest log entry on this replica.'),
      pending: gauge('proposals_pending', 'Proposals of this replica without outcome.'),
      size: gauge('log_size_bytes', 'Bytes of the log on disk.'),
    };
    this.peerLag = metrics.gauge({
      name: 'raft_peer_lag_entries',
      help: 'At the leader: entries that a replica still has to confirm.',
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
  const histogram = <Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: readonly Label[] = [],
  ) => metrics.histogram({ name: `raft_${name}`, help, buckets, labels });
  const counter = <Label extends string = never>(
    name: string,
    help: string,
    labels: readonly Label[] = [],
  ) => metrics.counter({ name: `raft_${name}`, help, labels });
  const sync = histogram(
    'log_sync_duration_seconds',
    'Time of one synced write of the log.',
    durationBuckets,
  );
  const batch = histogram('log_sync_entries', 'Entries in one synced write.', countBuckets);
  const written = counter('log_written_bytes_total', 'Bytes of entries written to the log.');
  const commit = histogram(
    'commit_duration_seconds',
    'At the leader: from the write of entries to their commit.',
    durationBuckets,
  );
  const roundTrip = histogram(
    'peer_round_trip_duration_seconds',
    'Time of a round of the network to a replica.',
    durationBuckets,
    ['peer'],
  );
  const delay = histogram(
    'loop_delay_seconds',
    'How late timers of the thread of consensus fire.',
    durationBuckets,
  );
  const changes = counter('leader_changes_total', 'Leaders that this replica has seen come.');
  const failed = counter('proposals_failed_total', 'Proposals that came to nothing, by cause.', [
    'code',
  ]);
  const sent = counter('peer_sent_bytes_total', 'Bytes of messages to a replica.', ['peer']);
  const received = counter('peer_received_bytes_total', 'Bytes of messages from a replica.', [
    'peer',
  ]);
  const dropped = counter(
    'peer_dropped_messages_total',
    'Messages to or from a replica that were dropped here, by cause.',
    ['peer', 'reason'],
  );
  const snapshotBytes = counter(
    'snapshot_bytes_total',
    'Bytes of snapshots to and from replicas.',
    ['direction', 'peer'],
  );
  const snapshots = counter('snapshots_total', 'Snapshots to and from replicas, by outcome.', [
    'direction',
    'peer',
    'outcome',
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
    roundTrip: (peer, durationMs) => roundTrip.observe({ peer }, durationMs / 1_000),
    peerSent: (peer, byteCount) => sent.inc({ peer }, byteCount),
    peerReceived: (peer, byteCount) => received.inc({ peer }, byteCount),
    peerDropped: (peer, messageCount, reason) => dropped.inc({ peer, reason }, messageCount),
    snapshotBytes: (direction, peer, byteCount) =>
      snapshotBytes.inc({ direction, peer }, byteCount),
    snapshotEnded: (direction, peer, succeeded) =>
      snapshots.inc({ direction, peer, outcome: succeeded ? 'done' : 'failed' }),
    loopDelayed: (durationMs) => delay.observe(durationMs / 1_000),
  };
}

/**
 * The leader's side of replication: what it knows of each follower, and what it learns from answers. What
 * goes out is made when the output is taken (`flush`), so that what comes together goes out together.
 */
import type { LogIndex } from '../replicated-log.js';
import { AppendSender } from './append-sender.js';
import { memberIds } from './configurations.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { invariant } from './invariant.js';
import { DEPARTURE_TIMEOUTS } from './limits.js';
import { Progress } from './progress.js';
import type {
  AppendResponse,
  Entry,
  HeartbeatResponse,
  MemberId,
  ReadRequest,
  SnapshotPoint,
} from './types.js';

export class Replication {
  readonly #progress = new Map<MemberId, Progress>();

  readonly #sender: AppendSender;

  constructor(private readonly state: CoreState) {
    this.#sender = new AppendSender(state, this.isActive);
    this.reconfigure();
  }

  get all(): Iterable<Progress> {
    return this.#progress.values();
  }

  of(id: MemberId): Progress | undefined {
    return this.#progress.get(id);
  }

  /** Up to where a member's log is durable and the leader's own. */
  readonly matchOf = (id: MemberId): LogIndex => {
    if (id === this.state.id) return this.state.writes.stableIndex;
    return this.#progress.get(id)?.matchIndex ?? (0 as LogIndex);
  };

  /** Whether a member answered within the last election timeout. */
  readonly isActive = (id: MemberId): boolean => {
    if (id === this.state.id) return true;
    const heardAtTick = this.#progress.get(id)?.heardAtTick ?? Number.NEGATIVE_INFINITY;
    return this.state.tick - heardAtTick <= this.state.options.electionTicks;
  };

  /** Follows the configuration in effect. Who left is told of that for a while, as far as it can be. */
  reconfigure(): void {
    const { state } = this;
    const ids = memberIds(state.configurations.current);
    const departsAtTick = state.tick + DEPARTURE_TIMEOUTS * state.options.electionTicks;
    for (const progress of this.#progress.values()) {
      progress.departsAtTick = ids.has(progress.id)
        ? undefined
        : (progress.departsAtTick ?? departsAtTick);
    }
    const nextIndex = (state.log.last.index + 1) as LogIndex;
    for (const id of ids) {
      if (id === state.id || this.#progress.has(id)) continue;
      this.#progress.set(id, new Progress(id, nextIndex, state.options));
    }
  }

  tick(): void {
    for (const { id, departsAtTick } of this.#progress.values()) {
      if (departsAtTick === undefined || departsAtTick > this.state.tick) continue;
      mark('departedTold');
      this.#progress.delete(id);
    }
  }

  flush(): void {
    for (const progress of this.#progress.values()) {
      this.#sender.fill(progress);
    }
  }

  sendHeartbeats(context: number): void {
    const { state } = this;
    for (const progress of this.#progress.values()) {
      const commitIndex = Math.min(progress.matchIndex, state.commitIndex) as LogIndex;
      state.send({
        kind: 'heartbeatRequest',
        from: state.id,
        to: progress.id,
        term: state.term,
        commitIndex,
        context,
      });
    }
  }

  /** From now on the answer to a heartbeat restarts what has got lost. */
  nudgeAll(): void {
    for (const progress of this.#progress.values()) progress.nudge = true;
  }

  onHeartbeatResponse(message: HeartbeatResponse): void {
    const progress = this.#heard(message);
    if (!progress) return;
    progress.diskLatencyMs = message.diskLatencyMs;
    const { appliedIndex } = message;
    // One that lost its state, not its log, has matched before what it installs.
    const isInstalled = appliedIndex >= Math.max(progress.matchIndex, this.state.log.start.index);
    if (progress.state === 'snapshot' && isInstalled) {
      // Word of it got lost.
      progress.becomeProbe((appliedIndex + 1) as LogIndex);
    }
    if (!progress.nudge) return;
    progress.nudge = false;
    if (progress.state === 'probe') progress.probeSent = false;
    else if (progress.state === 'replicate' && progress.matchIndex < progress.nextIndex - 1) {
      this.#sender.nudge(progress);
    }
  }

  /** True when more is known to match. */
  onAppendResponse(message: AppendResponse): boolean {
    const progress = this.#heard(message);
    if (!progress) return false;
    if (message.needsSnapshot) {
      mark('snapshotNeededByFollower');
      if (progress.state !== 'snapshot') this.#sender.sendSnapshot(progress);
      return false;
    }
    if (message.accepted) return this.#accepted(progress, message.matchIndex);
    this.#refused(progress, message);
    return false;
  }

  onEntriesRead(request: ReadRequest, entries: readonly Entry[] | undefined): void {
    const progress = this.#progress.get(request.peer);
    const { reading } = progress ?? {};
    if (!progress || reading?.from !== request.from || reading.to !== request.to) {
      mark('entriesReadStale');
      return;
    }
    this.#sender.onEntriesRead(progress, entries);
  }

  onSnapshotSent(to: MemberId, point: SnapshotPoint | undefined): void {
    const progress = this.#progress.get(to);
    if (progress?.state !== 'snapshot') return;
    if (point) {
      mark('snapshotDelivered');
      progress.becomeProbe((point.index + 1) as LogIndex);
      return;
    }
    mark('snapshotFailed');
    progress.becomeProbe((progress.matchIndex + 1) as LogIndex);
    // Not again at once: the next heartbeat's answer restarts it.
    progress.probeSent = true;
  }

  onUnreachable(peer: MemberId): void {
    const progress = this.#progress.get(peer);
    if (progress?.state !== 'replicate') return;
    mark('peerUnreachable');
    progress.becomeProbe((progress.matchIndex + 1) as LogIndex);
  }

  #heard(message: AppendResponse | HeartbeatResponse): Progress | undefined {
    const progress = this.#progress.get(message.from);
    if (!progress) return undefined;
    progress.heardAtTick = this.state.tick;
    if (message.appliedIndex > progress.appliedIndex) progress.appliedIndex = message.appliedIndex;
    return progress;
  }

  #accepted(progress: Progress, matchIndex: LogIndex): boolean {
    const { log } = this.state;
    invariant(
      matchIndex <= log.last.index,
      `member ${progress.id} acknowledges ${matchIndex}, which this leader does not have`,
    );
    const advanced = progress.acknowledge(matchIndex);
    if (progress.matchIndex !== matchIndex) return advanced;
    if (progress.state === 'probe' && matchIndex >= progress.nextIndex - 1) {
      progress.becomeReplicate();
    } else if (progress.state === 'snapshot' && matchIndex >= log.start.index) {
      progress.becomeReplicate();
    }
    return advanced;
  }

  #refused(progress: Progress, message: AppendResponse): void {
    const { refusedIndex, hintIndex, hintTerm } = message;
    const current =
      progress.state === 'replicate'
        ? refusedIndex > progress.matchIndex && refusedIndex < progress.nextIndex
        : progress.state === 'probe' && refusedIndex === progress.nextIndex - 1;
    if (!current) {
      mark('refusalStale');
      return;
    }
    mark('probeBackedOff');
    progress.becomeProbe(this.#agreementAfter(hintIndex, hintTerm));
  }

  /** Where to go on with a log that may agree at `hintIndex`; at or before the start: with a snapshot. */
  #agreementAfter(hintIndex: LogIndex, hintTerm: number): LogIndex {
    const { log } = this.state;
    if (hintIndex < log.start.index) return (hintIndex + 1) as LogIndex;
    const agreed = log.agreementHint(hintIndex, hintTerm);
    return (agreed.term <= hintTerm ? agreed.index + 1 : agreed.index) as LogIndex;
  }
}

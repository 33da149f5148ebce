/**
 * Applies the log, slice by slice, and passes on the outcome: events to the watches, changes to the
 * disk, results to the callers. A slice is applied within one turn of the event loop, so that no
 * reader sees half of it.
 */
import type { Clock } from '@orch/component';
import type { CommittedEntry } from '@orch/raft';
import type { StoreEvent } from '../core/event-ring.js';
import type { Applied } from '../core/state-machine.js';
import type { HashAudit } from '../maintenance/hash-audit.js';
import type { Proposer } from '../proposing/proposer.js';
import type { StoreTime } from '../proposing/store-time.js';
import type { Reads } from '../reading/reads.js';
import type { RevisionTimes } from '../reading/revision-times.js';
import type { LiveState } from '../state/live-state.js';
import type { Sweeper } from '../state/sweeper.js';
import type { StoreObserver } from '../store-observer.js';
import { StateHistory } from '../watching/state-history.js';
import type { Watches } from '../watching/watches.js';

export interface ApplierDependencies {
  readonly clock: Clock;
  readonly observer: StoreObserver | undefined;
  readonly watches: Watches;
  readonly proposer: Proposer;
  readonly reads: Reads;
  readonly times: RevisionTimes;
  readonly time: StoreTime;
  readonly audit: HashAudit;
  readonly sweeper: Sweeper;
}

export class Applier {
  constructor(private readonly dependencies: ApplierDependencies) {}

  /** Returns a promise if the disk lags too far behind: deliver no entries before it resolves. */
  apply(
    { machine, writer }: LiveState,
    entries: readonly CommittedEntry[],
  ): Promise<void> | undefined {
    const { clock, observer, watches, proposer, reads, times, time, audit, sweeper } =
      this.dependencies;
    const startedMs = clock.monotonicMs();
    const compactedBefore = machine.compactedRevision;
    const settled: Applied[] = [];
    const events: StoreEvent[] = [];
    for (const { index, command } of entries) {
      const applied = machine.apply(index, command);
      audit.applied(machine);
      if (!applied) continue;
      settled.push(applied);
      watches.collect(applied.events);
      for (const event of applied.events) events.push(event);
    }
    const proposers = machine.proposers.takeChanges();
    writer.enqueue(machine.facts, events, [], proposers);
    watches.flush(machine.revision);
    for (const applied of settled) {
      proposer.settle(applied);
      if (applied.report) audit.reported(applied.report);
    }
    reads.advance(machine.appliedIndex, machine.revision);
    const nowMs = clock.monotonicMs();
    times.note(nowMs, machine.revision);
    time.observe(machine.timeMs);
    if (machine.compactedRevision > compactedBefore) sweeper.sweep();
    observer?.applied(entries.length, nowMs - startedMs);
    return writer.room();
  }

  /**
   * Continues with `live`, a state just opened or installed, and settles every wait it satisfies.
   */
  replaced(live: LiveState): void {
    const { clock, observer, watches, proposer, reads, times, time, audit, sweeper } =
      this.dependencies;
    const { machine } = live;
    audit.restart(machine);
    time.observe(machine.timeMs);
    times.note(clock.monotonicMs(), machine.revision);
    watches.resume(new StateHistory(live), machine.revision);
    proposer.replaced(machine);
    reads.advance(machine.appliedIndex, machine.revision);
    sweeper.sweep();
    observer?.replaced();
  }
}

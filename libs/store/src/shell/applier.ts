/**
 * Applies the log, slice by slice, and hands on what comes of it: events to the watches, changes to
 * the disk, results to whoever waits. All of a slice within one turn of the loop, so that nobody sees
 * half of it.
 */
import type { Clock } from '@orch/component';
import type { CommittedEntry } from '@orch/raft';
import type { StoreEvent } from '../core/event-ring.js';
import type { Applied } from '../core/state-machine.js';
import type { StoreObserver } from '../store-observer.js';
import type { HashAudit } from './hash-audit.js';
import type { LiveState } from './live-state.js';
import type { Proposer } from './proposer.js';
import type { Reads } from './reads.js';
import type { RevisionTimes } from './revision-times.js';
import type { StoreTime } from './store-time.js';
import type { Sweeper } from './sweeper.js';
import type { Watches } from './watches.js';

export interface ApplierParts {
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
  constructor(private readonly parts: ApplierParts) {}

  /** A promise: the disk is too far behind, give no more before it resolves. */
  apply(
    { machine, writer }: LiveState,
    entries: readonly CommittedEntry[],
  ): Promise<void> | undefined {
    const { clock, observer, watches, proposer, reads, times, time, audit, sweeper } = this.parts;
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

  /** The state in use is this one from now on: nobody has to wait for what it has. */
  replaced(live: LiveState): void {
    const { clock, watches, proposer, reads, times, time, audit, sweeper } = this.parts;
    const { machine } = live;
    audit.restart(machine);
    time.observe(machine.timeMs);
    times.note(clock.monotonicMs(), machine.revision);
    watches.resume(live);
    proposer.replaced(machine);
    reads.advance(machine.appliedIndex, machine.revision);
    sweeper.sweep();
  }
}

/**
 * A leader whose disk is slow makes every write slow, and its heartbeats look healthy all the
 * while. One that stays slow over two election timeouts names a voter to hand over to: one that has
 * everything and whose disk is much quicker.
 */

import { invariant } from '../invariant.js';
import { fasterDiskFactor } from '../limits.js';
import type { Progress } from '../replication/progress.js';
import type { Replication } from '../replication/replication.js';
import type { CoreState } from '../state/core-state.js';
import type { MemberId } from '../types.js';

export class SlowDisk {
  private slowTicks = 0;

  constructor(
    private readonly state: CoreState,
    private readonly replication: Replication,
  ) {}

  /** Once a tick. The voter to hand over to, if it is time and there is one. */
  tick(): MemberId | undefined {
    const { diskLatencyMs, options } = this.state;
    invariant(this.state.activeRole === 'leader', 'a replica that does not lead watches its disk');
    this.slowTicks = diskLatencyMs > options.slowDiskMs ? this.slowTicks + 1 : 0;
    if (this.slowTicks < 2 * options.electionTicks) return undefined;
    this.slowTicks = 0;
    return this.quickest()?.id;
  }

  private quickest(): Progress | undefined {
    const { state, replication } = this;
    let best: Progress | undefined;
    for (const { id } of state.configurations.current.voters) {
      const progress = replication.of(id);
      if (!progress || !replication.isActive(id)) continue;
      // 0: it has not measured any write.
      const { diskLatencyMs } = progress;
      if (diskLatencyMs === 0) continue;
      if (diskLatencyMs * fasterDiskFactor >= state.diskLatencyMs) continue;
      if (progress.matchIndex < state.commitIndex) continue;
      if (!best || diskLatencyMs < best.diskLatencyMs) best = progress;
    }
    invariant(best?.id !== state.id, 'a leader with a slow disk prefers itself');
    return best;
  }
}

/**
 * State that all parts of a simulated disk share: time, randomness, faults and the life of the
 * process that uses it. A promise of an earlier life never settles; synchronous calls throw
 * ProcessGone there.
 */
import type { LoopClock } from '@orch/component';
import { DiskError, healthyDisk, type SimDiskCounts, type SimDiskFaults } from './sim-faults.js';

export interface SimDiskOptions {
  readonly clock: LoopClock;
  /** Uniform in [0, 1), seeded. */
  readonly random: () => number;
  readonly faults?: Partial<SimDiskFaults>;
}

/** Code that continues after the end of its process ends here: in reality it would not run. */
export class ProcessGone extends Error {
  override readonly name = 'ProcessGone';
}

export class SimMachine {
  readonly faults: SimDiskFaults;
  readonly counts: SimDiskCounts = {
    writes: 0,
    syncs: 0,
    slowSyncs: 0,
    syncErrors: 0,
    readErrors: 0,
    spaceErrors: 0,
    crashes: 0,
    batchesLost: 0,
    marksLost: 0,
    recordsDamaged: 0,
    replacementsCut: 0,
  };
  life = 1;

  constructor(private readonly options: SimDiskOptions) {
    this.faults = { ...healthyDisk, ...options.faults };
  }

  /** Draws only when it can matter, so that a fault that is off leaves the run as it was. */
  chance(rate: number): boolean {
    return rate > 0 && this.options.random() < rate;
  }

  /** In [0, count). */
  pick(count: number): number {
    return Math.floor(this.options.random() * count);
  }

  wait(life: number, [least, most]: readonly [number, number]): Promise<void> {
    if (life !== this.life) return never();
    const delayMs = most > least ? least + this.options.random() * (most - least) : least;
    if (delayMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.options.clock.setTimer(delayMs, () => {
        if (life === this.life) resolve();
      });
    });
  }

  /** The time and outcome of a sync. */
  async sync(life: number): Promise<void> {
    const { faults, counts } = this;
    const slow = this.chance(faults.slowSyncRate);
    counts.syncs += 1;
    if (slow) counts.slowSyncs += 1;
    await this.wait(life, slow ? faults.slowSyncMs : faults.syncMs);
    if (!this.chance(faults.syncErrorRate)) return;
    counts.syncErrors += 1;
    throw new DiskError('EIO', 'fsync');
  }

  /** Throws `EIO` as often as the faults say. */
  checkRead(): void {
    if (!this.chance(this.faults.readErrorRate)) return;
    this.counts.readErrors += 1;
    throw new DiskError('EIO', 'read');
  }
}

export function never<Result>(): Promise<Result> {
  return new Promise(() => undefined);
}

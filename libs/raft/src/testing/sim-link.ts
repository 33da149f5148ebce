/**
 * One direction between two addresses of the simulated network. Everything that is drawn comes from
 * the injected source and every wait from the injected clock, so that one seed is one exact run.
 */
import type { Clock } from '@orch/component';

/** What a link does to what goes over it. Rates are shares of frames, from 0 to 1. */
export interface LinkConditions {
  /** Uniform between the two; from 0.1 to 1000 ms is what networks do. */
  readonly delayMinMs: number;
  readonly delayMaxMs: number;
  /** Share of frames with messages that never arrive, although the call continues. */
  readonly lossRate: number;
  readonly duplicateRate: number;
  /** May be overtaken by those behind them. */
  readonly reorderRate: number;
  /** Arrive `staleMs` late, behind everything that was said since. */
  readonly staleRate: number;
  readonly staleMs: number;
  /** Arrive with one bit flipped. */
  readonly corruptRate: number;
  /**
   * Share of frames with entries in which one entry was damaged in memory before the frame got its
   * checksum.
   */
  readonly entryDamageRate: number;
  /**
   * Share of frames in the middle of which the call breaks: earlier frames still arrive, the rest
   * is lost.
   */
  readonly resetRate: number;
  /** Share of snapshot chunks at which the call breaks. */
  readonly snapshotResetRate: number;
  /** Share of greetings that arrive as one of another cluster. */
  readonly wrongClusterRate: number;
  readonly bytesPerSecond: number;
  /** Frames in flight wait until it ends. */
  readonly clogged: boolean;
  /** Nothing arrives; frames in flight are lost. */
  readonly cut: boolean;
}

export const calmConditions: LinkConditions = {
  delayMinMs: 0.1,
  delayMaxMs: 0.5,
  lossRate: 0,
  duplicateRate: 0,
  reorderRate: 0,
  staleRate: 0,
  staleMs: 10_000,
  corruptRate: 0,
  entryDamageRate: 0,
  resetRate: 0,
  snapshotResetRate: 0,
  wrongClusterRate: 0,
  bytesPerSecond: 1024 * 1024 * 1024,
  clogged: false,
  cut: false,
};

/** How often each thing has happened: a run without the fault that it is about proves nothing. */
export type SimNetworkCounts = Record<
  | 'carried'
  | 'lost'
  | 'duplicated'
  | 'reordered'
  | 'stale'
  | 'corrupted'
  | 'entriesDamaged'
  | 'clogged'
  | 'cut'
  | 'reset'
  | 'snapshotReset'
  | 'wrongCluster',
  number
>;

/** Frames that stand still on one clogged link; what comes after is lost, as by a full switch. */
const cloggedFramesMax = 10_000;

const nothing = () => undefined;

export class SimLink {
  private currentConditions: LinkConditions;
  /** Time at which the wire has carried the earlier frames. */
  private freeAtMs = 0;
  /** Nothing that keeps its order arrives before that. */
  private orderedAtMs = 0;
  private standing: (() => void)[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    readonly counts: SimNetworkCounts,
    conditions: LinkConditions,
  ) {
    this.currentConditions = conditions;
  }

  get conditions(): LinkConditions {
    return this.currentConditions;
  }

  set(change: Partial<LinkConditions>): void {
    this.currentConditions = { ...this.currentConditions, ...change };
    if (this.currentConditions.clogged) return;
    const standing = this.standing;
    this.standing = [];
    for (const arrive of standing) this.after(0, arrive);
  }

  /** Whether something of that rate happens now. */
  draw(rate: number): boolean {
    return rate > 0 && this.random() < rate;
  }

  /** Uniform in [0, count). */
  pick(count: number): number {
    return Math.floor(this.random() * count);
  }

  /** A frame that may be lost, late, out of order and, if `mayDouble`, doubled. */
  carryLossy(
    frame: Buffer,
    mayDouble: boolean,
    arrive: (frame: Buffer) => void,
    left: () => void,
  ): void {
    const { lossRate, duplicateRate, reorderRate, staleRate, staleMs } = this.currentConditions;
    if (this.draw(lossRate)) {
      this.counts.lost += 1;
      this.ordered(frame.length, left, left);
      return;
    }
    const once = this.damaged(frame);
    if (this.draw(duplicateRate) && mayDouble) {
      this.counts.duplicated += 1;
      this.unordered(frame.length, 0, () => arrive(once));
    }
    if (this.draw(staleRate)) {
      this.counts.stale += 1;
      this.unordered(frame.length, staleMs, () => arrive(once));
      this.ordered(0, left, left);
    } else if (this.draw(reorderRate)) {
      this.counts.reordered += 1;
      this.unordered(frame.length, 0, () => arrive(once));
      this.ordered(0, left, left);
    } else {
      const arrived = () => {
        arrive(once);
        left();
      };
      this.ordered(frame.length, arrived, left);
    }
  }

  /** A frame that arrives in order, unless the link is interrupted. It may still be damaged. */
  carry(frame: Buffer, arrive: (frame: Buffer) => void, left: () => void): void {
    const damaged = this.damaged(frame);
    const arrived = () => {
      arrive(damaged);
      left();
    };
    this.ordered(frame.length, arrived, left);
  }

  /** Signals the end of a call, after its frames. */
  signal(arrive: () => void): void {
    this.ordered(0, arrive);
  }

  private damaged(frame: Buffer): Buffer {
    if (!this.draw(this.currentConditions.corruptRate)) return frame;
    this.counts.corrupted += 1;
    const damaged = Buffer.from(frame);
    const bit = this.pick(frame.length * 8);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    return damaged;
  }

  /**
   * `lost` instead of `arrive` when the link is interrupted: its sender must not wait without end.
   */
  private ordered(byteCount: number, arrive: () => void, lost: () => void = nothing): void {
    this.orderedAtMs = Math.max(this.orderedAtMs, this.arrivesAtMs(byteCount));
    this.after(this.orderedAtMs - this.clock.monotonicMs(), arrive, lost);
  }

  private unordered(byteCount: number, extraMs: number, arrive: () => void): void {
    this.after(this.arrivesAtMs(byteCount) + extraMs - this.clock.monotonicMs(), arrive);
  }

  private arrivesAtMs(byteCount: number): number {
    const { delayMinMs, delayMaxMs, bytesPerSecond } = this.currentConditions;
    const sentMs = (byteCount / bytesPerSecond) * 1_000;
    this.freeAtMs = Math.max(this.freeAtMs, this.clock.monotonicMs()) + sentMs;
    return this.freeAtMs + delayMinMs + this.random() * (delayMaxMs - delayMinMs);
  }

  private after(delayMs: number, arrive: () => void, lost: () => void = nothing): void {
    const wasCut = this.currentConditions.cut;
    this.clock.setTimer(Math.max(0, delayMs), () => {
      if (wasCut || this.currentConditions.cut || this.standing.length >= cloggedFramesMax) {
        this.counts.cut += 1;
        lost();
      } else if (this.currentConditions.clogged || this.standing.length > 0) {
        this.counts.clogged += 1;
        this.standing.push(arrive);
      } else {
        this.counts.carried += 1;
        arrive();
      }
    });
  }
}

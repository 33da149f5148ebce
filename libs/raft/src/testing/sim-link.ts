/**
 * One direction between two addresses of the simulated network. Everything that is drawn comes from the
 * injected source and every wait from the injected clock, so that one seed is one exact run.
 */
import type { Clock } from '@orch/component';

/** What a link does to what goes over it. Rates are shares of frames, from 0 to 1. */
export interface LinkConditions {
  /** Uniform between the two; from 0.1 to 1000 ms is what networks do. */
  readonly delayMinMs: number;
  readonly delayMaxMs: number;
  /** Of frames with messages: never arrive, although the call goes on. */
  readonly lossRate: number;
  readonly duplicateRate: number;
  /** May be overtaken by those behind them. */
  readonly reorderRate: number;
  /** Arrive `staleMs` late, behind everything that was said since. */
  readonly staleRate: number;
  readonly staleMs: number;
  /** Arrive with one bit flipped. */
  readonly corruptRate: number;
  /** Of frames with entries: one entry was damaged in memory, before the frame got its checksum. */
  readonly entryDamageRate: number;
  /** The call breaks in the middle of the frame: what was said first still arrives, the rest is lost. */
  readonly resetRate: number;
  /** Of the pieces of snapshots: their call breaks there. */
  readonly snapshotResetRate: number;
  /** Of greetings: arrive as one of another cluster. */
  readonly wrongClusterRate: number;
  readonly bytesPerSecond: number;
  /** What is under way stands still, and goes on when it ends. */
  readonly clogged: boolean;
  /** Nothing arrives; what is under way is lost. */
  readonly cut: boolean;
}

export const CALM: LinkConditions = {
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
const CLOGGED_FRAMES_MAX = 10_000;

const nothing = () => undefined;

export class SimLink {
  #conditions: LinkConditions;
  /** When the wire has carried what was put on it. */
  #freeAtMs = 0;
  /** Nothing that keeps its order arrives before that. */
  #orderedAtMs = 0;
  #standing: (() => void)[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    readonly counts: SimNetworkCounts,
    conditions: LinkConditions,
  ) {
    this.#conditions = conditions;
  }

  get conditions(): LinkConditions {
    return this.#conditions;
  }

  set(change: Partial<LinkConditions>): void {
    this.#conditions = { ...this.#conditions, ...change };
    if (this.#conditions.clogged) return;
    const standing = this.#standing;
    this.#standing = [];
    for (const arrive of standing) this.#after(0, arrive);
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
    const { lossRate, duplicateRate, reorderRate, staleRate, staleMs } = this.#conditions;
    if (this.draw(lossRate)) {
      this.counts.lost += 1;
      this.#ordered(frame.length, left, left);
      return;
    }
    const once = this.#damaged(frame);
    if (this.draw(duplicateRate) && mayDouble) {
      this.counts.duplicated += 1;
      this.#unordered(frame.length, 0, () => arrive(once));
    }
    if (this.draw(staleRate)) {
      this.counts.stale += 1;
      this.#unordered(frame.length, staleMs, () => arrive(once));
      this.#ordered(0, left, left);
    } else if (this.draw(reorderRate)) {
      this.counts.reordered += 1;
      this.#unordered(frame.length, 0, () => arrive(once));
      this.#ordered(0, left, left);
    } else {
      const arrived = () => {
        arrive(once);
        left();
      };
      this.#ordered(frame.length, arrived, left);
    }
  }

  /** A frame that arrives in its place, unless the link is cut. It may be damaged all the same. */
  carry(frame: Buffer, arrive: (frame: Buffer) => void, left: () => void): void {
    const damaged = this.#damaged(frame);
    const arrived = () => {
      arrive(damaged);
      left();
    };
    this.#ordered(frame.length, arrived, left);
  }

  /** That a call has ended, behind what was said on it. */
  signal(arrive: () => void): void {
    this.#ordered(0, arrive);
  }

  #damaged(frame: Buffer): Buffer {
    if (!this.draw(this.#conditions.corruptRate)) return frame;
    this.counts.corrupted += 1;
    const damaged = Buffer.from(frame);
    const bit = this.pick(frame.length * 8);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    return damaged;
  }

  /** `lost` instead of `arrive` when the link is cut: whoever sent it must not wait for it for ever. */
  #ordered(byteCount: number, arrive: () => void, lost: () => void = nothing): void {
    this.#orderedAtMs = Math.max(this.#orderedAtMs, this.#arrivesAtMs(byteCount));
    this.#after(this.#orderedAtMs - this.clock.monotonicMs(), arrive, lost);
  }

  #unordered(byteCount: number, extraMs: number, arrive: () => void): void {
    this.#after(this.#arrivesAtMs(byteCount) + extraMs - this.clock.monotonicMs(), arrive);
  }

  #arrivesAtMs(byteCount: number): number {
    const { delayMinMs, delayMaxMs, bytesPerSecond } = this.#conditions;
    const sentMs = (byteCount / bytesPerSecond) * 1_000;
    this.#freeAtMs = Math.max(this.#freeAtMs, this.clock.monotonicMs()) + sentMs;
    return this.#freeAtMs + delayMinMs + this.random() * (delayMaxMs - delayMinMs);
  }

  #after(delayMs: number, arrive: () => void, lost: () => void = nothing): void {
    const wasCut = this.#conditions.cut;
    this.clock.setTimer(Math.max(0, delayMs), () => {
      if (wasCut || this.#conditions.cut || this.#standing.length >= CLOGGED_FRAMES_MAX) {
        this.counts.cut += 1;
        lost();
      } else if (this.#conditions.clogged || this.#standing.length > 0) {
        this.counts.clogged += 1;
        this.#standing.push(arrive);
      } else {
        this.counts.carried += 1;
        arrive();
      }
    });
  }
}

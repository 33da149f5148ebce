/**
 * Keeps objects of the server's own concern as they should be: a round runs at start, soon after a
 * change under its prefixes, and periodically. A round reads everything and repairs what differs,
 * so that a missed event or a lost race only costs time. Every server of the cluster runs the same
 * rounds; a second round finds nothing to do.
 */
import { StatusError } from '@orch/apimachinery';
import type { Clock, Logger, Timer } from '@orch/component';
import type { StoreReader } from '@orch/store';
import { StoreError, type WatchHandle } from '@orch/store';
import { reconcilePeriodMs, reconcileSettleMs } from '../limits.js';

export interface ReconcilerOptions {
  /** For the log. */
  readonly name: string;
  /** Key prefixes whose changes start a round. */
  readonly prefixes: readonly string[];
  /** Delay from a change to the round; `reconcileSettleMs` when absent. */
  readonly settleMs?: number;
  /**
   * Rejects with StoreError or StatusError when the store takes no writes now. Returns a delay in
   * ms after which to run again at the latest, for changes that no prefix covers.
   */
  readonly round: () => Promise<number | undefined>;
}

export interface ReconcilerDependencies {
  readonly store: Pick<StoreReader, 'watch' | 'revision'>;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly logger: Logger;
}

export class Reconciler {
  private handles: WatchHandle[] = [];
  private timer: Timer | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  private isSoon = false;
  private hasChanged = false;
  private periodMs = reconcilePeriodMs;
  private stopped = false;

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly options: ReconcilerOptions,
  ) {}

  /** Rejects when the first round fails; the caller may then call it again. */
  async start(): Promise<void> {
    await this.round();
    this.scheduleNext();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    this.unwatch();
    await this.running;
  }

  private watch(): void {
    if (this.handles.length > 0) return;
    const { store } = this.dependencies;
    const afterRevision = store.revision();
    this.handles = this.options.prefixes.map((prefix) =>
      store.watch({
        prefix,
        afterRevision,
        onEvents: () => this.changed(),
        // The next round watches again.
        onEnd: () => this.unwatch(),
      }),
    );
  }

  private unwatch(): void {
    for (const handle of this.handles) handle.close();
    this.handles = [];
  }

  private changed(): void {
    this.hasChanged = true;
    if (this.timer && !this.isRunning && !this.isSoon) this.scheduleNext();
  }

  /** Soon if something has changed since the last round began. */
  private scheduleNext(): void {
    this.timer?.cancel();
    if (this.stopped) return;
    this.isSoon = this.hasChanged;
    const { settleMs = reconcileSettleMs } = this.options;
    this.timer = this.dependencies.clock.setTimer(this.isSoon ? settleMs : this.periodMs, () => {
      this.running = this.run();
    });
  }

  private async run(): Promise<void> {
    try {
      await this.round();
    } catch (error) {
      if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
      this.dependencies.logger.warn(
        { err: error, reconciler: this.options.name },
        'own objects not reconciled',
      );
    }
    this.scheduleNext();
  }

  private async round(): Promise<void> {
    this.isRunning = true;
    this.hasChanged = false;
    this.periodMs = reconcilePeriodMs;
    try {
      this.watch();
      this.periodMs = (await this.options.round()) ?? reconcilePeriodMs;
    } finally {
      this.isRunning = false;
    }
  }
}

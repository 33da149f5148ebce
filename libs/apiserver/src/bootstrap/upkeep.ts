/**
 * Work of the server on objects of its own concern: a round runs at start, soon after something under its
 * prefixes has changed, and from time to time. A round looks at all there is and brings it to where it
 * should be, so that a missed event or a lost race only costs time. Every server of the cluster does it;
 * who comes second finds nothing to do.
 */
import { StatusError } from '@orch/apimachinery';
import type { Logger, Timer } from '@orch/component';
import { StoreError, type WatchHandle } from '@orch/store';
import { upkeepPeriodMs, upkeepSettleMs } from '../limits.js';
import type { RegistryParts } from '../registry/registry-parts.js';

export interface UpkeepWork {
  /** For the log. */
  readonly name: string;
  /** Of keys whose changes matter. */
  readonly prefixes: readonly string[];
  /** From a change to the round that looks at it; `upkeepSettleMs` when absent. */
  readonly settleMs?: number;
  /**
   * Rejects with StoreError or StatusError when it could not be done now. Answers when it wants to be
   * called again at the latest, in ms from now; for what no change under the prefixes tells.
   */
  readonly round: () => Promise<number | undefined>;
}

export class Upkeep {
  private handles: WatchHandle[] = [];
  private timer: Timer | undefined;
  private running: Promise<void> = Promise.resolve();
  private isRunning = false;
  private isSoon = false;
  private hasChanged = false;
  private againMs = upkeepPeriodMs;
  private stopped = false;

  constructor(
    private readonly parts: RegistryParts,
    private readonly work: UpkeepWork,
    private readonly logger: Logger,
  ) {}

  /** Rejects when the first round fails: it may be called again then. */
  async start(): Promise<void> {
    await this.round();
    this.scheduleNext();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    this.unfollow();
    await this.running;
  }

  private follow(): void {
    if (this.handles.length > 0) return;
    const { store } = this.parts;
    const afterRevision = store.status().revision;
    this.handles = this.work.prefixes.map((prefix) =>
      store.watch({
        prefix,
        afterRevision,
        onEvents: () => this.changed(),
        // The next round follows again.
        onEnd: () => this.unfollow(),
      }),
    );
  }

  private unfollow(): void {
    for (const handle of this.handles) handle.close();
    this.handles = [];
  }

  private changed(): void {
    this.hasChanged = true;
    if (this.timer && !this.isRunning && !this.isSoon) this.scheduleNext();
  }

  /** Soon, when something has changed since the last round began. */
  private scheduleNext(): void {
    this.timer?.cancel();
    if (this.stopped) return;
    this.isSoon = this.hasChanged;
    const { settleMs = upkeepSettleMs } = this.work;
    this.timer = this.parts.clock.setTimer(this.isSoon ? settleMs : this.againMs, () => {
      this.running = this.run();
    });
  }

  private async run(): Promise<void> {
    try {
      await this.round();
    } catch (error) {
      if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
      this.logger.warn({ err: error, work: this.work.name }, 'own objects not brought up to date');
    }
    this.scheduleNext();
  }

  private async round(): Promise<void> {
    this.isRunning = true;
    this.hasChanged = false;
    this.againMs = upkeepPeriodMs;
    try {
      this.follow();
      this.againMs = (await this.work.round()) ?? upkeepPeriodMs;
    } finally {
      this.isRunning = false;
    }
  }
}

/** How many bytes the log has on disk: looked up now and then, as that goes through its files. */
import type { Clock, Logger } from '@orch/component';
import { sizeLookupMs } from '../../limits.js';
import type { LogStore } from '../../storage/log-store.js';

export class SizeLookup {
  private latestBytes = 0;

  constructor(
    private readonly store: LogStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
    /** Once false it looks no more. */
    private readonly isRunning: () => boolean,
  ) {}

  get bytes(): number {
    return this.latestBytes;
  }

  async measure(): Promise<void> {
    this.latestBytes = await this.store.sizeBytes();
  }

  start(): void {
    this.clock.setTimer(sizeLookupMs, () => {
      if (!this.isRunning()) return;
      this.measure()
        .catch((error: unknown) => {
          this.logger.warn({ error }, 'the size of the log could not be looked up');
        })
        .finally(() => this.start());
    });
  }
}

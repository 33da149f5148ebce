/** How many bytes the log has on disk: looked up now and then, as that goes through its files. */
import type { Clock, Logger } from '@orch/component';
import { SIZE_LOOKUP_MS } from '../limits.js';
import type { LogStore } from '../storage/log-store.js';

export class SizeLookup {
  #bytes = 0;

  constructor(
    private readonly store: LogStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
    /** Once false it looks no more. */
    private readonly isRunning: () => boolean,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  async look(): Promise<void> {
    this.#bytes = await this.store.sizeBytes();
  }

  repeat(): void {
    this.clock.setTimer(SIZE_LOOKUP_MS, () => {
      if (!this.isRunning()) return;
      this.look()
        .catch((error: unknown) => {
          this.logger.warn({ error }, 'the size of the log could not be looked up');
        })
        .finally(() => this.repeat());
    });
  }
}

/** One command on its way into the log, and the caller who waits for it. Settles once. */
import type { Waiting } from '../deadlines.js';
import { LogError, type LogIndex } from '../replicated-log.js';

export class Proposal implements Waiting {
  /** Handed to a write: from then on its outcome is open until that write ends. */
  appending = false;
  settled = false;
  readonly #resolve: (index: LogIndex) => void;
  readonly #reject: (error: LogError) => void;

  constructor(
    readonly command: Buffer,
    readonly deadlineMs: number,
    resolve: (index: LogIndex) => void,
    reject: (error: LogError) => void,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  resolve(index: LogIndex): void {
    if (this.settled) return;
    this.settled = true;
    this.#resolve(index);
  }

  reject(error: LogError): void {
    if (this.settled) return;
    this.settled = true;
    this.#reject(error);
  }

  expired(): void {
    this.reject(
      this.appending
        ? new LogError('OutcomeUnknown', 'the deadline passed while the disk was writing')
        : new LogError('DeadlineExceeded', 'the deadline passed, nothing was written'),
    );
  }
}

/**
 * Writes log lines synchronously to a file descriptor, so that the last line before an exit is not
 * lost. While the descriptor takes no data, as with a full disk, the process continues: lines are
 * held up to a limit, further ones are dropped, and `check` reports the failure.
 */
import { writeSync } from 'node:fs';
import { errorCode, errorMessage } from '../errors/thrown.js';
import { heldLogBytesMax, logRetryCount, logRetryMs } from '../limits.js';

export class LogOutput {
  private held: Buffer = Buffer.alloc(0);
  private failure: unknown;

  constructor(private readonly fd: number) {}

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.held.length + bytes.length > heldLogBytesMax) this.flush();
    if (this.held.length + bytes.length > heldLogBytesMax) return;
    this.held = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    this.flush();
  }

  /** Writes the held lines. Throws with the reason if they cannot be written. */
  check(): void {
    this.flush();
    if (this.held.length === 0) return;
    const message = `cannot write the log: ${errorMessage(this.failure)}`;
    throw new Error(message, { cause: this.failure });
  }

  private flush(): void {
    let retryCount = 0;
    while (this.held.length > 0) {
      try {
        this.held = this.held.subarray(writeSync(this.fd, this.held));
      } catch (error) {
        this.failure = error;
        // The reader of a pipe is behind.
        if (errorCode(error) !== 'EAGAIN' || retryCount === logRetryCount) return;
        retryCount += 1;
        pause(logRetryMs);
      }
    }
  }
}

function pause(delayMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
}

/** The output of all loggers of the process. */
export const standardError = new LogOutput(2);

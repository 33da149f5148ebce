/**
 * The registration of this process life as a proposer. A random nonce distinguishes it from others;
 * the id that commands carry is the log index of the registration.
 */
import { encodeCommand } from '../core/command.js';
import type { Attempted } from './attempts.js';

const noncePart = 2 ** 32;

export class Registration implements Attempted {
  bytes: Buffer = Buffer.alloc(0);
  readonly open: number[] = [];
  retryAtMs = Number.POSITIVE_INFINITY;
  nonce = '';
  /** Undefined until the registration is applied. */
  proposer: string | undefined;
  /** Whether a registration of this process life was applied. */
  everDone = false;

  /** `random`: uniform in [0, 1). */
  constructor(private readonly random: () => number) {}

  /** Starts a new registration with another nonce. `timeMs` is the store's time. */
  begin(nowMs: number, timeMs: number): void {
    this.nonce = this.draw() + this.draw();
    this.bytes = encodeCommand({
      kind: 'register',
      id: { proposer: this.nonce, sequence: 0 },
      timeMs,
    });
    this.proposer = undefined;
    this.retryAtMs = nowMs;
  }

  done(proposer: string): void {
    this.proposer = proposer;
    this.everDone = true;
    this.retryAtMs = Number.POSITIVE_INFINITY;
  }

  private draw(): string {
    return Math.floor(this.random() * noncePart)
      .toString(16)
      .padStart(8, '0');
  }
}

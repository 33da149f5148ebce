/**
 * This process life's place among the proposers that the state knows. A nonce drawn here tells the own
 * registration from others; the id that commands carry is given by the log when it is applied.
 */
import { encodeCommand } from '../core/command.js';
import type { Attempted } from './attempts.js';

const NONCE_PART = 2 ** 32;

export class Registration implements Attempted {
  bytes: Buffer = Buffer.alloc(0);
  readonly open: number[] = [];
  retryAtMs = Number.POSITIVE_INFINITY;
  nonce = '';
  /** Undefined until it is applied. */
  proposer: string | undefined;
  /** Once at least. */
  everDone = false;

  /** `random`: uniform in [0, 1). */
  constructor(private readonly random: () => number) {}

  /** Starts anew, under another nonce. `timeMs`: the store's. */
  begin(nowMs: number, timeMs: number): void {
    this.nonce = this.#draw() + this.#draw();
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

  #draw(): string {
    return Math.floor(this.random() * NONCE_PART)
      .toString(16)
      .padStart(8, '0');
  }
}

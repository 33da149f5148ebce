/** One direction of one proxied connection, under conditions that may change at any time. */
import type { Socket } from 'node:net';

/** Buffered bytes of one direction of one connection; above it reading from the sender stops. */
const heldBytesMax = 1024 * 1024;

export type ConditionsChange = Partial<
  Pick<Conditions, 'delayMs' | 'jitterMs' | 'bytesPerSecond' | 'isBlackHole' | 'isRefusing'>
>;

/** Conditions for bytes from one member to another. */
export class Conditions {
  /** Added to every chunk, plus up to `jitterMs` at random; the order is preserved. */
  delayMs = 0;
  jitterMs = 0;
  bytesPerSecond = Number.POSITIVE_INFINITY;
  /** Holds all data, like TCP does, until it is false again. */
  isBlackHole = false;
  /** Closes new connections immediately. */
  isRefusing = false;
  private readonly listeners = new Set<() => void>();

  /** Throws TypeError for an unknown condition. */
  set(change: ConditionsChange): void {
    for (const name of Object.keys(change)) {
      if (!(name in this)) throw new TypeError(`no condition is called ${name}`);
    }
    Object.assign(this, change);
    for (const listener of this.listeners) listener();
  }

  /** Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export class FaultPipe {
  private readonly held: { readonly dueMs: number; readonly bytes: Buffer }[] = [];
  private readonly stopListening: () => void;
  private heldBytes = 0;
  private freeAtMs = 0;
  private lastDueMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private stopped = false;

  constructor(
    private readonly source: Socket,
    private readonly target: Socket,
    private readonly conditions: Conditions,
    private readonly random: () => number,
  ) {
    this.stopListening = conditions.onChange(() => this.schedule());
    source.on('data', (bytes) => this.take(bytes));
    source.on('end', () => {
      this.ended = true;
      this.schedule();
    });
    target.on('drain', () => this.schedule());
  }

  stop(): void {
    this.stopped = true;
    this.stopListening();
    clearTimeout(this.timer);
  }

  private take(bytes: Buffer): void {
    const { delayMs, jitterMs, bytesPerSecond } = this.conditions;
    const nowMs = performance.now();
    this.freeAtMs = Math.max(this.freeAtMs, nowMs) + (bytes.length / bytesPerSecond) * 1000;
    const dueMs = this.freeAtMs + delayMs + this.random() * jitterMs;
    this.lastDueMs = Math.max(this.lastDueMs, dueMs);
    this.held.push({ dueMs: this.lastDueMs, bytes });
    this.heldBytes += bytes.length;
    if (this.heldBytes > heldBytesMax) this.source.pause();
    this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (this.stopped || this.conditions.isBlackHole) return;
    for (let next = this.held[0]; next && !this.target.writableNeedDrain; next = this.held[0]) {
      const waitMs = next.dueMs - performance.now();
      if (waitMs > 0.5) {
        this.timer = setTimeout(() => this.schedule(), waitMs);
        return;
      }
      this.held.shift();
      this.heldBytes -= next.bytes.length;
      this.target.write(next.bytes);
    }
    if (this.heldBytes <= heldBytesMax) this.source.resume();
    if (this.ended && this.held.length === 0) this.target.end();
  }
}

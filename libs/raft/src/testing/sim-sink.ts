/**
 * A snapshot on its way over the simulated network: pieces in order, each let go when the receiver has
 * taken those before it, but for a window. It arrives whole, or its call breaks.
 */
import type { FrameListener, FrameSink } from '../transport/frame-network.js';
import { TransportError } from '../transport/transport-error.js';
import type { SimProcess } from './sim-call.js';
import type { SimLink } from './sim-link.js';

/** Pieces that may be under way before the receiver has taken the first. */
const WINDOW_FRAMES = 4;

export interface SimSinkParts {
  readonly caller: SimProcess;
  readonly forward: SimLink;
  readonly back: SimLink;
  /** Undefined: nobody listens there. */
  readonly callee: () => { process: SimProcess; listener: FrameListener } | undefined;
}

export class SimSink implements FrameSink {
  readonly reply: Promise<Buffer>;
  #succeed: (frame: Buffer) => void = () => undefined;
  #fail: (error: TransportError) => void = () => undefined;
  #isBroken = false;
  #underWay = 0;
  /** The writer that waits for room. */
  #left: () => void = () => undefined;
  readonly #arrived: Buffer[] = [];
  #ended = false;
  /** The reader that waits for a piece. */
  #wake: () => void = () => undefined;
  #callee: { process: SimProcess; listener: FrameListener } | undefined;

  constructor(private readonly parts: SimSinkParts) {
    this.reply = new Promise((resolve, reject) => {
      this.#succeed = resolve;
      this.#fail = reject;
    });
    parts.caller.ends.add(this);
  }

  async write(frame: Buffer): Promise<void> {
    const { forward } = this.parts;
    if (this.#isBroken) return;
    if (forward.draw(forward.conditions.snapshotResetRate)) {
      forward.counts.snapshotReset += 1;
      this.#break('connection reset');
      return;
    }
    this.#underWay += 1;
    forward.carry(
      frame,
      (arrived) => this.#arrive(arrived),
      () => undefined,
    );
    if (this.#underWay < WINDOW_FRAMES) return;
    await new Promise<void>((resolve) => {
      this.#left = resolve;
    });
  }

  end(): void {
    this.parts.forward.signal(() => {
      this.#ended = true;
      this.#wake();
    });
  }

  destroy(): void {
    this.#break('no longer wanted');
  }

  #break(reason: string): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.parts.caller.ends.delete(this);
    this.#callee?.process.ends.delete(this);
    this.#left();
    this.#wake();
    this.#fail(new TransportError('Unreachable', reason));
  }

  #arrive(frame: Buffer): void {
    if (this.#isBroken) return;
    if (!this.#callee) {
      this.#callee = this.parts.callee();
      if (!this.#callee) {
        this.parts.back.signal(() => this.#break('connection refused'));
        return;
      }
      const { process, listener } = this.#callee;
      process.ends.add(this);
      process.run(() => void this.#receive(listener));
    }
    this.#callee.process.run(() => {
      this.#arrived.push(frame);
      this.#wake();
    });
  }

  async #receive(listener: FrameListener): Promise<void> {
    const reply = await listener.snapshot({ next: () => this.#next() });
    this.parts.back.carry(
      reply,
      (frame) => {
        this.#succeed(frame);
        this.#break('done');
      },
      () => undefined,
    );
  }

  async #next(): Promise<IteratorResult<Buffer>> {
    while (this.#arrived.length === 0) {
      if (this.#isBroken) throw new TransportError('Unreachable', 'the snapshot broke off');
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#underWay -= 1;
    this.#left();
    return { done: false, value: this.#arrived.shift()! };
  }
}

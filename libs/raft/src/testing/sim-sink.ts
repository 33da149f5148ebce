/**
 * A snapshot in flight over the simulated network: chunks in order, each sent when the receiver has
 * read the ones before it, except for a window. It arrives completely, or its call breaks.
 */
import type { FrameListener, FrameSink } from '../transport/frame-network.js';
import { TransportError } from '../transport/transport-error.js';
import type { SimProcess } from './sim-call.js';
import type { SimLink } from './sim-link.js';

/** Chunks in flight before the receiver has read the first. */
const windowFrames = 4;

export interface SimSinkDependencies {
  readonly caller: SimProcess;
  readonly forward: SimLink;
  readonly back: SimLink;
  /** Undefined: no process listens there. */
  readonly callee: () => { process: SimProcess; listener: FrameListener } | undefined;
}

export class SimSink implements FrameSink {
  readonly reply: Promise<Buffer>;
  private succeed: (frame: Buffer) => void = () => undefined;
  private fail: (error: TransportError) => void = () => undefined;
  private isBroken = false;
  private underWay = 0;
  /** The writer that waits for room. */
  private left: () => void = () => undefined;
  private readonly arrived: Buffer[] = [];
  private ended = false;
  /** The reader that waits for a piece. */
  private wake: () => void = () => undefined;
  private callee: { process: SimProcess; listener: FrameListener } | undefined;

  constructor(private readonly dependencies: SimSinkDependencies) {
    this.reply = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    dependencies.caller.ends.add(this);
  }

  async write(frame: Buffer): Promise<void> {
    const { forward } = this.dependencies;
    if (this.isBroken) return;
    if (forward.draw(forward.conditions.snapshotResetRate)) {
      forward.counts.snapshotReset += 1;
      this.break('connection reset');
      return;
    }
    this.underWay += 1;
    forward.carry(
      frame,
      (arrived) => this.arrive(arrived),
      () => undefined,
    );
    if (this.underWay < windowFrames) return;
    await new Promise<void>((resolve) => {
      this.left = resolve;
    });
  }

  end(): void {
    this.dependencies.forward.signal(() => {
      this.ended = true;
      this.wake();
    });
  }

  destroy(): void {
    this.break('no longer wanted');
  }

  private break(reason: string): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.dependencies.caller.ends.delete(this);
    this.callee?.process.ends.delete(this);
    this.left();
    this.wake();
    this.fail(new TransportError('Unreachable', reason));
  }

  private arrive(frame: Buffer): void {
    if (this.isBroken) return;
    if (!this.callee) {
      this.callee = this.dependencies.callee();
      if (!this.callee) {
        this.dependencies.back.signal(() => this.break('connection refused'));
        return;
      }
      const { process, listener } = this.callee;
      process.ends.add(this);
      process.run(() => void this.receive(listener));
    }
    this.callee.process.run(() => {
      this.arrived.push(frame);
      this.wake();
    });
  }

  private async receive(listener: FrameListener): Promise<void> {
    const reply = await listener.snapshot({ next: () => this.next() });
    this.dependencies.back.carry(
      reply,
      (frame) => {
        this.succeed(frame);
        this.break('done');
      },
      () => undefined,
    );
  }

  private async next(): Promise<IteratorResult<Buffer>> {
    while (this.arrived.length === 0) {
      if (this.isBroken) throw new TransportError('Unreachable', 'the snapshot broke off');
      if (this.ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    this.underWay -= 1;
    this.left();
    return { done: false, value: this.arrived.shift()! };
  }
}

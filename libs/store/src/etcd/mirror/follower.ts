/**
 * Follows the changes of etcd: opens the stream on another server if one fails or stays silent,
 * from the revision that the last one reached. `expect` announces a revision that must arrive: the
 * follower requests progress and finally leaves a server that does not deliver it.
 */
import { Backoff, type Logger, type LoopClock, sleep, type Timer } from '@orch/component';
import { type Revision, StoreError } from '../../versioned-store.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import type { KeyLayout } from '../layout/key-layout.js';
import { progressRequestMs, streamRetryMaxMs, streamRetryMinMs, streamStallMs } from '../limits.js';
import { ChangeStream, type StreamStep } from './change-stream.js';

export interface FollowerHooks {
  /** Returns the revision after which the next stream starts. */
  revision(): Revision;
  apply(step: StreamStep): void;
  /** Changes not seen yet were compacted: loads everything again. */
  startOver(): Promise<void>;
  fatal(error: Error): void;
}

export class Follower {
  private stream: ChangeStream | undefined;
  private heardAtMs = 0;
  private expected = 0;
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private readonly stopped = new AbortController();

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
    private readonly clock: LoopClock,
    private readonly logger: Logger,
    private readonly random: () => number,
    private readonly hooks: FollowerHooks,
  ) {}

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopped.abort(new StoreError('Stopped', 'the store is stopped'));
    this.timer?.cancel();
    this.stream?.close();
    await this.running;
  }

  /** etcd has reached `revision`. */
  expect(revision: number): void {
    if (revision <= this.hooks.revision() || this.stopped.signal.aborted) return;
    this.expected = Math.max(this.expected, revision);
    if (this.timer) return;
    this.heardAtMs = this.clock.monotonicMs();
    this.stream?.requestProgress();
    this.watch();
  }

  private watch(): void {
    this.timer = this.clock.setTimer(progressRequestMs, () => {
      this.timer = undefined;
      if (this.hooks.revision() >= this.expected) return;
      const silentMs = this.clock.monotonicMs() - this.heardAtMs;
      if (silentMs > streamStallMs) {
        this.logger.warn({ silentMs, expected: this.expected }, 'change stream has stalled');
        this.heardAtMs = this.clock.monotonicMs();
        this.stream?.close();
      } else {
        this.stream?.requestProgress();
      }
      this.watch();
    });
  }

  private async run(): Promise<void> {
    const backoff = new Backoff({
      initialMs: streamRetryMinMs,
      maxMs: streamRetryMaxMs,
      factor: 2,
      jitter: 0.5,
      random: this.random,
    });
    while (!this.stopped.signal.aborted) {
      try {
        await this.follow(backoff);
      } catch (error) {
        if (this.stopped.signal.aborted) return;
        if (!(await this.recover(error))) return;
      }
      // Only the end of the store aborts the sleep.
      await sleep(backoff.nextMs(), this.stopped.signal, this.clock).catch(() => undefined);
    }
  }

  private async follow(backoff: Backoff): Promise<void> {
    const member = await this.cluster.member(streamStallMs);
    if (this.stopped.signal.aborted) return;
    const afterRevision = this.hooks.revision();
    const stream = new ChangeStream(member, {
      layout: this.layout,
      afterRevision,
      withPrevious: false,
    });
    this.stream = stream;
    // Revisions expected of the last stream are expected of this one.
    if (this.timer) stream.requestProgress();
    try {
      for await (const step of stream) {
        this.heardAtMs = this.clock.monotonicMs();
        backoff.reset();
        if (this.stopped.signal.aborted) return;
        this.hooks.apply(step);
      }
    } catch (error) {
      this.cluster.leave(member);
      throw error;
    } finally {
      this.stream = undefined;
      stream.close();
    }
  }

  /** Returns false if the error is fatal. */
  private async recover(error: unknown): Promise<boolean> {
    if (error instanceof FatalApplyError) {
      this.hooks.fatal(error.cause);
      return false;
    }
    if (error instanceof StoreError && error.code === 'Corrupt') {
      this.hooks.fatal(error);
      return false;
    }
    this.logger.warn({ error }, 'change stream is opened again');
    if (!(error instanceof StoreError) || error.code !== 'Compacted') return true;
    try {
      await this.hooks.startOver();
    } catch (failure) {
      this.logger.warn({ error: failure }, 'loading from etcd is put off');
    }
    return true;
  }
}

/** Memory differs from etcd. */
export class FatalApplyError extends Error {
  override readonly name = 'FatalApplyError';
  constructor(override readonly cause: Error) {
    super(cause.message);
  }
}

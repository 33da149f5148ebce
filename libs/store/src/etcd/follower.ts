/**
 * Keeps the stream of changes open: on another server when one fails or falls silent, from where the last
 * one ended. Whoever knows of a revision that has not come yet says so by `expect`, which asks for
 * progress and, in the end, leaves the server that does not deliver.
 */
import { Backoff, type Logger, type LoopClock, sleep, type Timer } from '@orch/component';
import { StoreError } from '../versioned-store.js';
import { ChangeStream, type StreamStep } from './change-stream.js';
import type { EtcdCluster } from './etcd-cluster.js';
import type { KeyLayout } from './key-layout.js';
import {
  PROGRESS_REQUEST_MS,
  STREAM_RETRY_MAX_MS,
  STREAM_RETRY_MIN_MS,
  STREAM_STALL_MS,
} from './limits.js';

export interface FollowerHooks {
  /** Where the next stream is to begin. */
  revision(): number;
  apply(step: StreamStep): void;
  /** What was not seen yet is compacted: everything has to be read anew. */
  startOver(): Promise<void>;
  fatal(error: Error): void;
}

export class Follower {
  #stream: ChangeStream | undefined;
  #heardAtMs = 0;
  #expected = 0;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  readonly #stopped = new AbortController();

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
    private readonly clock: LoopClock,
    private readonly logger: Logger,
    private readonly random: () => number,
    private readonly hooks: FollowerHooks,
  ) {}

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new StoreError('Stopped', 'the store is stopped'));
    this.#timer?.cancel();
    this.#stream?.close();
    await this.#running;
  }

  /** etcd is known to have reached `revision`. */
  expect(revision: number): void {
    if (revision <= this.hooks.revision() || this.#stopped.signal.aborted) return;
    this.#expected = Math.max(this.#expected, revision);
    if (this.#timer) return;
    this.#heardAtMs = this.clock.monotonicMs();
    this.#stream?.requestProgress();
    this.#watch();
  }

  #watch(): void {
    this.#timer = this.clock.setTimer(PROGRESS_REQUEST_MS, () => {
      this.#timer = undefined;
      if (this.hooks.revision() >= this.#expected) return;
      const silentMs = this.clock.monotonicMs() - this.#heardAtMs;
      if (silentMs > STREAM_STALL_MS) {
        this.logger.warn({ silentMs, expected: this.#expected }, 'stream of changes has stalled');
        this.#heardAtMs = this.clock.monotonicMs();
        this.#stream?.close();
      } else {
        this.#stream?.requestProgress();
      }
      this.#watch();
    });
  }

  async #run(): Promise<void> {
    const backoff = new Backoff({
      initialMs: STREAM_RETRY_MIN_MS,
      maxMs: STREAM_RETRY_MAX_MS,
      factor: 2,
      jitter: 0.5,
      random: this.random,
    });
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#follow(backoff);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        if (!(await this.#recover(error))) return;
      }
      // Cut short by the end of the store only.
      await sleep(backoff.nextMs(), this.#stopped.signal, this.clock).catch(() => undefined);
    }
  }

  async #follow(backoff: Backoff): Promise<void> {
    const member = await this.cluster.member(STREAM_STALL_MS);
    if (this.#stopped.signal.aborted) return;
    const afterRevision = this.hooks.revision();
    const stream = new ChangeStream(member, {
      layout: this.layout,
      afterRevision,
      withPrevious: false,
    });
    this.#stream = stream;
    // What was expected of the stream before is expected of this one.
    if (this.#timer) stream.requestProgress();
    try {
      for await (const step of stream) {
        this.#heardAtMs = this.clock.monotonicMs();
        backoff.reset();
        if (this.#stopped.signal.aborted) return;
        this.hooks.apply(step);
      }
    } catch (error) {
      this.cluster.leave(member);
      throw error;
    } finally {
      this.#stream = undefined;
      stream.close();
    }
  }

  /** False: nothing more can be done. */
  async #recover(error: unknown): Promise<boolean> {
    if (error instanceof FatalApplyError) {
      this.hooks.fatal(error.cause);
      return false;
    }
    if (error instanceof StoreError && error.code === 'Corrupt') {
      this.hooks.fatal(error);
      return false;
    }
    this.logger.warn({ error }, 'stream of changes is opened anew');
    if (!(error instanceof StoreError) || error.code !== 'Compacted') return true;
    try {
      await this.hooks.startOver();
    } catch (failure) {
      this.logger.warn({ error: failure }, 'reading everything anew is put off');
    }
    return true;
  }
}

/** Memory does not agree with what etcd tells. */
export class FatalApplyError extends Error {
  override readonly name = 'FatalApplyError';
  constructor(override readonly cause: Error) {
    super(cause.message);
  }
}

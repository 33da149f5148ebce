/** The queues and periodic tasks of one controller, and how they start and stop. */
import { WorkQueue } from '@orch/client';
import type { Controller, ControllerContext, Reconcile } from './controller.js';
import { every } from './every.js';

interface Worker {
  readonly queue: WorkQueue;
  readonly workerCount: number;
  readonly reconcile: Reconcile;
}

export class QueueController implements Controller {
  /** The workers of the main queue. */
  workerCount = 1;
  private main: WorkQueue | undefined;
  private readonly workers: Worker[] = [];
  private readonly startHooks: ((signal: AbortSignal) => void)[] = [];
  private readonly stopHooks: (() => void)[] = [];
  private readonly tasks: ((signal: AbortSignal) => Promise<void>)[] = [];

  constructor(
    private readonly name: string,
    private readonly context: ControllerContext,
  ) {}

  get queues(): readonly WorkQueue[] {
    return this.workers.map(({ queue }) => queue);
  }

  /** Created on first use: a controller that only has periodic tasks has none. */
  get mainQueue(): WorkQueue {
    this.main ??= this.createQueue(this.name);
    return this.main;
  }

  reconcileMainQueue(reconcile: Reconcile): void {
    this.workers.push({ queue: this.mainQueue, workerCount: this.workerCount, reconcile });
  }

  addQueue(name: string, workerCount: number, reconcile: Reconcile): WorkQueue {
    const queue = this.createQueue(name);
    this.workers.push({ queue, workerCount, reconcile });
    return queue;
  }

  addTask(periodMs: number, act: () => Promise<void>): void {
    const { clock, logger } = this.context;
    this.tasks.push((signal) => every(periodMs, clock, logger, signal, act));
  }

  onStart(hook: (signal: AbortSignal) => void): void {
    this.startHooks.push(hook);
  }

  onStop(hook: () => void): void {
    this.stopHooks.push(hook);
  }

  async run(signal: AbortSignal): Promise<void> {
    const shutDown = () => {
      for (const queue of this.queues) queue.shutDown();
    };
    if (signal.aborted) shutDown();
    signal.addEventListener('abort', shutDown, { once: true });
    for (const hook of this.startHooks) hook(signal);
    await Promise.all([
      ...this.workers.map(({ queue, workerCount, reconcile }) =>
        queue.run(workerCount, async (key) => (await reconcile(key, signal)).requeueAfterMs),
      ),
      ...this.tasks.map((run) => run(signal)),
    ]);
    for (const hook of this.stopHooks) hook();
  }

  private createQueue(name: string): WorkQueue {
    const { clock, logger, metrics } = this.context;
    return new WorkQueue({ name, clock, logger, metrics });
  }
}

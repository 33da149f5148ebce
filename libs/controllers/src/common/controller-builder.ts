/**
 * Declares a controller: which objects it reconciles, which other objects lead to a reconciliation,
 * and its reconcile function. The builder wires informers, indexes, queue, workers, metrics, start
 * and stop.
 */
import { type ApiObject, type KnownResource, objectKey, type WorkQueue } from '@orch/client';
import type { Controller, ControllerContext, Reconcile } from './controller.js';
import { type OwnsOptions, watchOwned } from './ownership.js';
import { QueueController } from './queue-controller.js';
import { type Predicates, type WatchOptions, watch } from './watches.js';

/** Starts the declaration of a controller. `name` labels the metrics and logs of its queue. */
export function controller(name: string, context: ControllerContext): ControllerBuilder<never> {
  return new ControllerBuilder<never>(context, new QueueController(name, context), undefined);
}

export class ControllerBuilder<Owner extends ApiObject> {
  constructor(
    private readonly context: ControllerContext,
    private readonly built: QueueController,
    private readonly owner: KnownResource<Owner> | undefined,
  ) {}

  /** The queue of the keys to reconcile, for keys from elsewhere than the watched resources. */
  get queue(): WorkQueue {
    return this.built.mainQueue;
  }

  /** Sets how many keys are reconciled concurrently; 1 by default. */
  workers(count: number): this {
    this.built.workerCount = count;
    return this;
  }

  /**
   * Reconciles the objects of `resource`: each change that passes `predicates` enqueues its key.
   */
  for<T extends ApiObject>(
    resource: KnownResource<T>,
    predicates: Predicates<T> = {},
  ): ControllerBuilder<T> {
    watch(this.context, this.queue, resource, (object) => [objectKey(object)], predicates);
    return new ControllerBuilder(this.context, this.built, resource);
  }

  /**
   * Enqueues the object of `for` that controls a changed object of `resource`, and every one that
   * could adopt it if it has no controller. Indexes `resource` for `dependentsOf` and `claim`.
   */
  owns<T extends ApiObject>(resource: KnownResource<T>, options: OwnsOptions<Owner, T>): this {
    if (!this.owner) throw new Error('owns() needs for() before it');
    watchOwned(this.context, this.queue, this.owner, resource, options);
    return this;
  }

  /**
   * Enqueues the keys that `map` returns for a changed object of `resource`, before and after the
   * change.
   */
  watches<T extends ApiObject>(
    resource: KnownResource<T>,
    map: (object: T) => Iterable<string>,
    options: WatchOptions<T> = {},
  ): this {
    watch(this.context, this.queue, resource, map, options);
    return this;
  }

  /** Runs `act` at the start and again `periodMs` after each run. A failure is logged. */
  every(periodMs: number, act: () => Promise<void>): this {
    this.built.addTask(periodMs, act);
    return this;
  }

  /** Reconciles these keys at the start, in addition to those of the existing objects. */
  initialKeys(keys: () => Iterable<string>): this {
    this.built.onStart(() => {
      for (const key of keys()) this.queue.add(key);
    });
    return this;
  }

  /** Calls `act` after changes of what the server serves, and once after the start. */
  onServedResources(act: () => void): this {
    this.built.onStart((signal) => this.context.definitions.subscribe(signal, act));
    return this;
  }

  /** Runs `hook` after the last reconciliation. */
  onStop(hook: () => void): this {
    this.built.onStop(hook);
    return this;
  }

  /** Adds a queue with its own name, workers and reconcile function. */
  extraQueue(name: string, workerCount: number, reconcile: Reconcile): WorkQueue {
    return this.built.addQueue(name, workerCount, reconcile);
  }

  /** Ends the declaration. */
  reconcile(reconcile: Reconcile): Controller {
    this.built.reconcileMainQueue(reconcile);
    return this.built;
  }

  /** Ends the declaration of a controller that only has extra queues and periodic tasks. */
  build(): Controller {
    return this.built;
  }
}

/**
 * The scheduler: takes pods from the queue and attempts to schedule them, sequentially and in time
 * slices, so that watches and timers are not blocked. The owner starts and stops it with the
 * leadership of the process.
 */
import {
  type ApiClient,
  type EventRecorder,
  type InformerFactory,
  type PodReport,
  resources,
} from '@orch/client';
import type { Clock, Logger, Timer } from '@orch/component';
import { Assumptions } from '../cache/assumptions.js';
import { ClusterCache } from '../cache/cluster-cache.js';
import type { SchedulerConfiguration } from '../configuration/scheduler-configuration.js';
import type { CycleContext, VolumeAssumptions } from '../framework/cycle.js';
import { cycleSliceMs, queuedPodCountMax, queueFlushPeriodMs } from '../limits.js';
import { Nominations } from '../queue/nominations.js';
import { SchedulingQueue } from '../queue/scheduling-queue.js';
import { Binder } from './binder.js';
import { BindingCycle } from './binding-cycle.js';
import { ConditionWriter } from './condition-writer.js';
import { Decisions } from './decisions.js';
import { EventFeed, notEnded } from './event-feed.js';
import { Explainer } from './explainer.js';
import { ExtenderClient } from './extenders/extender-client.js';
import { Extenders } from './extenders/extenders.js';
import { followObjects, type IsServed } from './object-listers.js';
import { Preemptor } from './preemptor.js';
import { RetryBatch } from './retry-batch.js';
import type { SchedulerMetrics } from './scheduler-metrics.js';
import { SchedulingAttempts } from './scheduling-attempts.js';
import { VolumeBinder } from './volume-binder.js';
import { WaitingPods } from './waiting-pods.js';

export interface SchedulerDependencies {
  readonly client: ApiClient;
  readonly informers: InformerFactory;
  /** Returns the recorder of the events of a profile. */
  readonly recorderOf: (schedulerName: string) => EventRecorder;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Whether the nominated node of a pod is used without a search if it is feasible. */
  readonly prefersNominatedNode: boolean;
}

/** `not leading`: another process makes the decisions. `unknown`: no such pod of this scheduler. */
export type ExplainResult = PodReport | 'not leading' | 'unknown';

export class Scheduler {
  readonly cache: ClusterCache;
  readonly queue: SchedulingQueue;
  readonly nominations = new Nominations();
  readonly waitingPods: WaitingPods;
  private readonly extenders: Extenders;
  private readonly binder: Binder;
  private readonly stopping = new AbortController();
  private readonly decisions = new Decisions();
  private attempts: SchedulingAttempts | undefined;
  private retries: RetryBatch | undefined;
  private explainer: Explainer | undefined;
  private running = false;
  private sliceDue = false;
  private flushTimer: Timer | undefined;

  constructor(
    private readonly dependencies: SchedulerDependencies,
    private readonly configuration: SchedulerConfiguration,
  ) {
    const { client, clock, logger, metrics } = dependencies;
    const { profiles, backoffInitialMs, backoffMaxMs } = configuration;
    this.cache = new ClusterCache(clock);
    this.queue = new SchedulingQueue(clock, profiles[0]!.queueSort.queueSort, {
      backoffInitialMs,
      backoffMaxMs,
      podCountMax: queuedPodCountMax,
    });
    this.waitingPods = new WaitingPods(clock);
    this.extenders = new Extenders(
      configuration.extenders.map((options) => new ExtenderClient(options)),
      logger,
    );
    this.binder = new Binder(client, () => this.wake());
    metrics.observeQueue(() => this.queue.sizes);
    metrics.observeCache(() => ({
      nodes: this.cache.nodeCount,
      pods: this.cache.podCount,
      assumed_pods: this.cache.assumedPodCount,
    }));
  }

  /**
   * Watches the objects that decisions depend on, as far as the server serves them. Must be called
   * once, before the informers start.
   */
  follow(isServed: IsServed): void {
    const { informers, logger, random, clock } = this.dependencies;
    const assumptions: VolumeAssumptions = {
      volumes: new Assumptions(),
      claims: new Assumptions(),
    };
    const followed = followObjects(informers, isServed, assumptions);
    const base = {
      objects: followed.objects,
      assumptions,
      nominated: this.nominations,
      random,
    };
    const profiles = new Map(
      this.configuration.profiles.map((profile) => [profile.schedulerName, profile]),
    );
    const context = () => ({ ...base, cluster: this.cache.snapshot() });
    this.attempts = this.createAttempts(profiles, context);
    const { cache, queue, nominations, decisions, extenders } = this;
    const pods = informers.informer(resources.pods, notEnded).lister;
    this.explainer = new Explainer({
      ...{ cache, queue, nominations, decisions, extenders, profiles, context },
      pod: (key) => pods.get(key),
      clock,
    });
    const wake = () => this.wake();
    const { objects } = followed;
    const retries = new RetryBatch({ cache, queue, profiles, objects, wake, clock });
    this.retries = retries;
    new EventFeed({
      ...{ informers, objectInformers: followed.informers, retries, wake },
      ...{ cache, queue, nominations, profiles, logger },
    });
  }

  /**
   * Begins to schedule pods. The informers must be synced, because a partial cache leads to wrong
   * decisions.
   */
  start(): void {
    if (this.running) return;
    this.running = true;
    this.scheduleFlush();
    this.wake();
  }

  /** Stops starting attempts; bindings in flight continue, waits for volumes end. */
  async stop(): Promise<void> {
    this.running = false;
    this.flushTimer?.cancel();
    this.retries?.stop();
    this.stopping.abort(new Error('the scheduler is stopped'));
    await this.extenders.close();
  }

  /** Explains the pod `namespace/name`: why it has its node, or why it has none. */
  explain(key: string): ExplainResult {
    if (!this.running) return 'not leading';
    return this.explainer?.explain(key) ?? 'unknown';
  }

  private createAttempts(
    profiles: ReadonlyMap<string, SchedulerConfiguration['profiles'][number]>,
    context: () => CycleContext,
  ): SchedulingAttempts {
    const { cache, queue, nominations, waitingPods, extenders, binder, decisions } = this;
    const { client, clock, logger, metrics } = this.dependencies;
    // A rate limit of their own: many waiting pods must not delay bindings.
    const conditions = new ConditionWriter(client.derive({}), clock, logger);
    const shared = { client, queue, nominations, waitingPods, extenders, conditions, decisions };
    const volumeBinder = new VolumeBinder({
      ...{ client, clock, signal: this.stopping.signal },
      node: (name) => cache.node(name),
    });
    const bindings = new BindingCycle({
      ...{ binder, volumeBinder, extenders, waitingPods, clock },
      isWanted: ({ pod }, node) => cache.nodeOf(pod.key) === node && cache.node(node) !== undefined,
    });
    return new SchedulingAttempts({
      ...this.dependencies,
      ...{ ...shared, cache, bindings, profiles, context },
      preemptor: new Preemptor({ ...shared, metrics, logger }),
      percentageOfNodesToScore: this.configuration.percentageOfNodesToScore,
    });
  }

  private wake(): void {
    if (!this.running || this.sliceDue) return;
    this.sliceDue = true;
    setImmediate(() => {
      void this.runSlice().finally(() => {
        this.sliceDue = false;
        if (this.hasWork()) this.wake();
      });
    });
  }

  private hasWork(): boolean {
    return this.running && this.binder.hasCapacity && this.queue.sizes.active > 0;
  }

  private async runSlice(): Promise<void> {
    const { clock } = this.dependencies;
    const endMs = clock.monotonicMs() + cycleSliceMs;
    while (this.hasWork() && clock.monotonicMs() < endMs) {
      const entry = this.queue.take();
      if (!entry) return;
      const attempt = this.attempts!.run(entry);
      if (!this.extenders.isEmpty) await attempt;
    }
  }

  private scheduleFlush(): void {
    this.flushTimer = this.dependencies.clock.setTimer(queueFlushPeriodMs, () => {
      this.queue.flush();
      for (const pod of this.cache.expire()) {
        this.dependencies.logger.warn({ pod }, 'binding was not confirmed, dropped the assumption');
      }
      this.wake();
      if (this.running) this.scheduleFlush();
    });
  }
}

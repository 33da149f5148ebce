/**
 * The scheduler: takes pods from the queue, decides (pure cycle), counts them on their node at once and
 * sends the bindings. Cycles run one after another in slices, so that watches and timers keep going.
 * Starting and stopping is up to the owner, who also decides when this process leads.
 */
import {
  type ApiObject,
  type EventRecorder,
  type InformerFactory,
  isConflict,
  isNotFound,
  type Lister,
  type ResourceRef,
  type RestClient,
  resources,
} from '@orch/client';
import type { Clock, Logger, Timer } from '@orch/component';
import type { ReplicaSet, StatefulSet } from '@orch/types/apps/v1';
import type { ReplicationController } from '@orch/types/core/v1';
import { ClusterCache } from '../cache/cluster-cache.js';
import { type CyclePlugins, type CycleSearch, runCycle } from '../framework/cycle.js';
import type { CycleContext } from '../framework/plugin.js';
import { cycleSliceMs, queueFlushPeriodMs } from '../limits.js';
import type { PodInfo } from '../model/pod-info.js';
import { defaultSpread } from '../plugins/default-spread.js';
import { type AlgorithmProvider, filterPlugins, scorePlugins } from '../plugins/registry.js';
import { type QueuedPod, SchedulingQueue } from '../queue/scheduling-queue.js';
import { Binder } from './binder.js';
import { ConditionWriter } from './condition-writer.js';
import { EventFeed } from './event-feed.js';
import type { SchedulerMetrics } from './scheduler-metrics.js';

export interface SchedulerSettings {
  /** Pods whose `spec.schedulerName` is this. */
  readonly schedulerName: string;
  /** Percent; 0 chooses by the cluster's size. */
  readonly percentageOfNodesToScore: number;
  readonly hardPodAffinityWeight: number;
  readonly algorithmProvider: AlgorithmProvider;
}

export interface SchedulerParts {
  readonly client: RestClient;
  readonly informers: InformerFactory;
  readonly recorder: EventRecorder;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

interface OwnerListers {
  readonly replicaSets?: Lister<ReplicaSet>;
  readonly statefulSets?: Lister<StatefulSet>;
  readonly replicationControllers?: Lister<ReplicationController>;
}

export class Scheduler {
  readonly cache: ClusterCache;
  readonly queue: SchedulingQueue;
  private readonly context: CycleContext;
  private readonly plugins: CyclePlugins;
  private readonly binder: Binder;
  private readonly conditions: ConditionWriter;
  private owners: OwnerListers = {};
  private nextStart = 0;
  private running = false;
  private sliceDue = false;
  private flushTimer: Timer | undefined;

  constructor(
    private readonly parts: SchedulerParts,
    private readonly settings: SchedulerSettings,
  ) {
    const { client, informers, clock, logger } = parts;
    this.plugins = { filters: filterPlugins, scores: scorePlugins(settings.algorithmProvider) };
    this.cache = new ClusterCache(clock);
    this.queue = new SchedulingQueue(clock);
    this.binder = new Binder(client, () => this.wake());
    this.conditions = new ConditionWriter(client, clock, logger);
    const namespaces = informers.informer(resources.namespaces).lister;
    const services = informers.informer(resources.services).lister;
    this.context = {
      cluster: this.cache,
      hardPodAffinityWeight: settings.hardPodAffinityWeight,
      namespaceLabels: (name) => namespaces.get(name)?.metadata?.labels,
      defaultSpread: defaultSpread({
        services: (namespace) => services.list(namespace),
        replicaSet: (key) => this.owners.replicaSets?.get(key),
        statefulSet: (key) => this.owners.statefulSets?.get(key),
        replicationController: (key) => this.owners.replicationControllers?.get(key),
      }),
    };
    new EventFeed({
      informers,
      cache: this.cache,
      queue: this.queue,
      context: this.context,
      schedulerName: settings.schedulerName,
      logger,
      wake: () => this.wake(),
    });
    parts.metrics.observeQueue(() => this.queue.sizes);
    parts.metrics.observeCache(() => ({
      nodes: this.cache.nodes.length,
      pods: this.cache.podCount,
      assumed_pods: this.cache.assumedPodCount,
    }));
  }

  /**
   * Follows those owners of pods that the server has: pods of one owner are spread over nodes. Called
   * once, before the informers start.
   */
  followOwners(isServed: (resource: ResourceRef<ApiObject>) => boolean): void {
    const { informers } = this.parts;
    const { replicaSets, statefulSets, replicationControllers } = resources;
    const lister = <T extends ApiObject>(resource: ResourceRef<T>) =>
      isServed(resource) ? informers.informer(resource).lister : undefined;
    this.owners = {
      replicaSets: lister(replicaSets),
      statefulSets: lister(statefulSets),
      replicationControllers: lister(replicationControllers),
    };
  }

  /** Begins to place pods. The informers must have synced: half a cluster would be misjudged. */
  start(): void {
    if (this.running) return;
    this.running = true;
    this.scheduleFlush();
    this.wake();
  }

  /** No further cycle begins; bindings on their way go on. */
  stop(): void {
    this.running = false;
    this.flushTimer?.cancel();
  }

  private wake(): void {
    if (!this.running || this.sliceDue) return;
    this.sliceDue = true;
    setImmediate(() => this.slice());
  }

  private slice(): void {
    this.sliceDue = false;
    const endMs = this.parts.clock.monotonicMs() + cycleSliceMs;
    while (this.running && this.binder.hasRoom) {
      const entry = this.queue.take();
      if (!entry) return;
      this.scheduleOne(entry);
      if (this.parts.clock.monotonicMs() >= endMs) {
        this.wake();
        return;
      }
    }
  }

  private scheduleFlush(): void {
    this.flushTimer = this.parts.clock.setTimer(queueFlushPeriodMs, () => {
      this.queue.flush();
      for (const pod of this.cache.expire()) {
        this.parts.logger.warn({ pod }, 'binding was never confirmed, assumption dropped');
      }
      this.wake();
      if (this.running) this.scheduleFlush();
    });
  }

  private scheduleOne(entry: QueuedPod): void {
    const { info, key } = entry;
    if (info.terminating || this.cache.nodeOf(key) !== undefined) {
      this.queue.done(key);
      return;
    }
    const { metrics, clock, logger, recorder } = this.parts;
    const startMs = clock.monotonicMs();
    const result = runCycle(info, this.context, this.plugins, this.search());
    metrics.cycle(clock.monotonicMs() - startMs);
    this.nextStart = result.nextStart;
    if (result.node === undefined) {
      metrics.attempt('unschedulable', clock.monotonicMs() - startMs);
      logger.debug({ pod: key, reason: result.message }, 'no node for the pod');
      this.queue.failed(key);
      recorder.event(reference(info), 'Warning', 'FailedScheduling', result.message);
      this.conditions.refused(info.pod, 'Unschedulable', result.message);
      return;
    }
    this.cache.assume(info, result.node);
    void this.bind(entry, result.node, startMs);
  }

  private search(): CycleSearch {
    return {
      start: this.nextStart,
      percentageOfNodesToScore: this.settings.percentageOfNodesToScore,
      random: this.parts.random,
    };
  }

  private async bind(entry: QueuedPod, node: string, startMs: number): Promise<void> {
    const { info, key } = entry;
    const { metrics, clock, logger, recorder } = this.parts;
    const bindStartMs = clock.monotonicMs();
    try {
      await this.binder.bind(info.pod, node);
      this.cache.bound(key);
      this.queue.done(key);
      metrics.binding(clock.monotonicMs() - bindStartMs);
      metrics.attempt('scheduled', clock.monotonicMs() - startMs);
      metrics.scheduled(entry.attempts, clock.monotonicMs() - entry.addedAtMs);
      logger.info({ pod: key, node }, 'pod bound');
      recorder.event(
        reference(info),
        'Normal',
        'Scheduled',
        `Successfully assigned ${key} to ${node}`,
      );
    } catch (error) {
      this.bindingFailed(info, node, error, clock.monotonicMs() - startMs);
    }
  }

  /** The room is free again; the pod is tried again unless it is gone or has got a node already. */
  private bindingFailed(info: PodInfo, node: string, error: unknown, durationMs: number): void {
    const { metrics, logger, recorder } = this.parts;
    this.cache.forget(info.key);
    this.queue.moveAll();
    if (isNotFound(error)) {
      this.queue.done(info.key);
      return;
    }
    metrics.attempt('error', durationMs);
    this.queue.failed(info.key, true);
    const message = error instanceof Error ? error.message : String(error);
    if (isConflict(error)) {
      logger.info({ pod: info.key, node, err: error }, 'binding refused');
      return;
    }
    logger.warn({ pod: info.key, node, err: error }, 'binding failed');
    recorder.event(reference(info), 'Warning', 'FailedScheduling', `Binding rejected: ${message}`);
    this.conditions.refused(info.pod, 'SchedulerError', message);
  }
}

/** What events are recorded about. */
function reference(info: PodInfo) {
  const { name, namespace, uid, resourceVersion } = info.pod.metadata ?? {};
  return { apiVersion: 'v1', kind: 'Pod', name, namespace, uid, resourceVersion };
}

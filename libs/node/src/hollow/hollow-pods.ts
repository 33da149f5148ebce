/**
 * The pods of all hollow nodes of a process: follows them in the API and writes what the agents of
 * their nodes would write, with the identity of each node. Level-based: a step is computed from the
 * pod in the API and a few moments, so that another process continues with the same pods.
 */
import { parseTime } from '@orch/apimachinery';
import {
  type ApiClient,
  isConflict,
  isNotFound,
  objectKey,
  Reflector,
  type ReflectorSink,
  resources,
  WorkQueue,
} from '@orch/client';
import type { Clock, Logger, Metrics } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import {
  hollowPodCountMax,
  hollowRetryBurst,
  hollowRetryQps,
  podRetryInitialMs,
  podRetryMaxMs,
} from '../limits.js';
import { allStatusesOf, hasEnded } from '../pods/pod-view.js';
import { isOlder } from '../status/status-manager.js';
import { statusPatch } from '../status/status-patch.js';
import type { HollowNode } from './hollow-node.js';
import { hollowPodStatus } from './hollow-pod-status.js';
import { keptPod } from './kept-pod.js';
import { type PodDelays, type PodStep, podStep } from './pod-timeline.js';

export interface HollowPodsDependencies {
  /** The client of the process, which lists and watches pods. */
  readonly client: ApiClient;
  readonly nodes: ReadonlyMap<string, HollowNode>;
  readonly delays: PodDelays;
  readonly workerCount: number;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

interface Entry {
  /** The newest version, from the watch or from the response to a write. */
  pod: Pod;
  readonly node: HollowNode;
  /** On the monotonic clock, like `deletedMs`. */
  readonly startMs: number;
  /** Wall time of the start, as the API shows it; fixed when the containers start. */
  startedAtMs: number | undefined;
  deletedMs: number | undefined;
  podIp: string | undefined;
}

export class HollowPods implements ReflectorSink<Pod> {
  private readonly entries = new Map<string, Entry>();
  private readonly queue: WorkQueue;
  private readonly stopping = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly dependencies: HollowPodsDependencies) {
    const { clock, logger, metrics } = dependencies;
    this.queue = new WorkQueue({
      name: 'hollow-pods',
      clock,
      logger,
      metrics,
      backoffBaseMs: podRetryInitialMs,
      backoffMaxMs: podRetryMaxMs,
      retryQps: hollowRetryQps,
      retryBurst: hollowRetryBurst,
      keyCountMax: hollowPodCountMax,
    });
  }

  get podCount(): number {
    return this.entries.size;
  }

  start(): void {
    const { client, clock, logger, random, workerCount } = this.dependencies;
    const reflector = new Reflector<Pod>({
      source: client.resource(resources.pods),
      selection: { fieldSelector: 'spec.nodeName!=' },
      sink: this,
      logger,
      clock,
      random,
    });
    this.running = Promise.all([
      reflector.run(this.stopping.signal),
      this.queue.run(workerCount, (key) => this.sync(key)),
    ]);
  }

  /** Stops writing. Pods and nodes remain in the API. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('stopping'));
    this.queue.shutDown();
    await this.running;
  }

  replace(pods: Pod[]): void {
    const present = new Set(pods.map(objectKey));
    for (const key of this.entries.keys()) if (!present.has(key)) this.forget(key);
    for (const pod of pods) this.set(pod);
  }

  set(pod: Pod): void {
    const key = objectKey(pod);
    const known = this.entries.get(key);
    if (known && known.pod.metadata?.uid === pod.metadata?.uid) {
      if (!isOlder(known.pod, pod)) return;
      known.pod = keptPod(pod);
      if (pod.metadata?.deletionTimestamp) known.deletedMs ??= this.nowMs();
    } else {
      if (known) this.forget(key);
      const node = this.dependencies.nodes.get(pod.spec?.nodeName ?? '');
      if (!node) return;
      if (this.entries.size >= hollowPodCountMax) {
        this.dependencies.logger.error({ pod: key, hollowPodCountMax }, 'pod ignored: too many');
        return;
      }
      this.entries.set(key, this.adopt(pod, node));
    }
    this.queue.add(key);
  }

  delete(pod: Pod): void {
    const key = objectKey(pod);
    if (this.entries.get(key)?.pod.metadata?.uid === pod.metadata?.uid) this.forget(key);
  }

  private nowMs(): number {
    return this.dependencies.clock.monotonicMs();
  }

  private forget(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    releaseAddress(entry);
    this.entries.delete(key);
  }

  /** A pod that already runs, according to its status, continues with its start and address. */
  private adopt(pod: Pod, node: HollowNode): Entry {
    const { clock, delays } = this.dependencies;
    const started = allStatusesOf(pod).flatMap(({ state }) => {
      return parseTime(state?.running?.startedAt) ?? [];
    });
    const startedAtMs = started.length > 0 ? Math.min(...started) : undefined;
    const podIp = pod.status?.podIP;
    const keepsAddress = podIp !== undefined && !hasEnded(pod) && node.addresses.reserve(podIp);
    const nowMs = this.nowMs();
    return {
      pod: keptPod(pod),
      node,
      startMs:
        startedAtMs === undefined
          ? nowMs + delays.startDelayMs
          : nowMs - Math.max(0, clock.nowMs() - startedAtMs),
      startedAtMs,
      deletedMs: pod.metadata?.deletionTimestamp ? nowMs : undefined,
      podIp: keepsAddress ? podIp : undefined,
    };
  }

  /** Performs the current step of a pod. Returns the milliseconds until the next one. */
  private async sync(key: string): Promise<number | undefined> {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    const nowMs = this.nowMs();
    const { startMs, deletedMs } = entry;
    const moments = { startMs, ...(deletedMs === undefined ? {} : { deletedMs }) };
    const step = podStep(entry.pod, moments, this.dependencies.delays, nowMs);
    if (step.state === 'ended' || step.state === 'ending') {
      if (step.state === 'ended') releaseAddress(entry);
    } else if (step.state === 'removed') {
      if (!hasEnded(entry.pod)) await this.report(entry, step);
      await remove(entry);
    } else {
      await this.report(entry, step);
    }
    return step.nextMs === undefined ? undefined : step.nextMs - nowMs;
  }

  private async report(entry: Entry, step: PodStep): Promise<void> {
    const { clock } = this.dependencies;
    const { node } = entry;
    const wallMs = (ms: number) => Math.round(clock.nowMs() - this.nowMs() + ms);
    const hasStarted = step.state !== 'waiting' && entry.startMs <= (entry.deletedMs ?? Infinity);
    if (hasStarted) {
      entry.startedAtMs ??= wallMs(entry.startMs);
      if (!entry.pod.spec?.hostNetwork) entry.podIp ??= node.addresses.allocate();
    }
    const containers = {
      startedAtMs: hasStarted ? entry.startedAtMs : undefined,
      finishedAtMs: step.finishedMs === undefined ? undefined : wallMs(step.finishedMs),
      isReady: step.isReady,
      podIp: entry.podIp,
    };
    const context = { nowMs: clock.nowMs(), hostIp: node.hostIp };
    const patch = statusPatch(entry.pod, hollowPodStatus(entry.pod, containers, context));
    if (!patch) return;
    const { namespace, name = '' } = entry.pod.metadata ?? {};
    const pods = node.client.resource(resources.pods, namespace);
    const written = await pods.patchStatus(name, patch, { type: 'strategic' });
    if (isOlder(entry.pod, written)) entry.pod = keptPod(written);
  }
}

function releaseAddress(entry: Entry): void {
  if (entry.podIp !== undefined) entry.node.addresses.release(entry.podIp);
  entry.podIp = undefined;
}

/** Removes a pod whose containers have ended; other components remove its finalizers. */
async function remove({ pod, node }: Entry): Promise<void> {
  const { namespace, name = '', uid = '' } = pod.metadata ?? {};
  try {
    await node.client
      .resource(resources.pods, namespace)
      .delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

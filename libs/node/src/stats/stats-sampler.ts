/**
 * Measures the usage of the node, its pods and their containers periodically, and retains the
 * latest snapshot for the server. Rates are averages over one period.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import { statsPeriodMs } from '../limits.js';
import type {
  ContainerId,
  ContainerRuntime,
  ContainerStats,
  ContainerStatus,
} from '../runtimes/container-runtime.js';
import { bootTimeMs } from '../runtimes/process/proc.js';
import { CpuCounter, type CpuUsage } from './cpu-counter.js';
import { nodeCpuNanoseconds, nodeMemory } from './node-readings.js';
import type { ContainerUsage, PodUsage, UsageSnapshot } from './usage-snapshot.js';

export interface StatsSamplerDependencies {
  readonly runtime: Pick<
    ContainerRuntime,
    'listContainers' | 'listContainerStats' | 'listSandboxes'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface TrackedContainer {
  readonly podUid: string;
  readonly counter: CpuCounter;
}

/** Subjects younger than this have a rate after their first sample. */
const freshMs = 1.5 * statsPeriodMs;

export class StatsSampler {
  private readonly node = new CpuCounter();
  private readonly nodeStartedMs = bootTimeMs();
  private readonly containers = new Map<ContainerId, TrackedContainer>();
  /** CPU time of the ended containers of each pod, by uid. */
  private readonly endedNanoseconds = new Map<string, number>();
  private latest: UsageSnapshot | undefined;
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(private readonly dependencies: StatsSamplerDependencies) {}

  /** The latest snapshot; undefined before the first measurement. */
  get snapshot(): UsageSnapshot | undefined {
    return this.latest;
  }

  start(): void {
    const { clock, logger } = this.dependencies;
    this.sample()
      .catch((error: unknown) => logger.error({ err: error }, 'measurement of usage failed'))
      .finally(() => {
        if (this.isStopped) return;
        this.timer = clock.setTimer(statsPeriodMs, () => this.start());
      });
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  /** Measures once. */
  async sample(): Promise<void> {
    const { runtime, clock } = this.dependencies;
    const [statuses, sandboxes] = await Promise.all([
      runtime.listContainers(),
      runtime.listSandboxes(),
    ]);
    const stats = await runtime.listContainerStats();
    const atMs = clock.nowMs();
    const monotonicMs = clock.monotonicMs();
    const nodeAgeMs = atMs - this.nodeStartedMs;
    this.node.add({ monotonicMs, coreNanoseconds: nodeCpuNanoseconds() }, nodeAgeMs, freshMs);
    const byId = new Map(statuses.map((status) => [status.id, status]));
    const usages = stats.flatMap((entry) => {
      const status = byId.get(entry.id);
      return status ? [{ entry, usage: this.containerUsage(entry, status, monotonicMs) }] : [];
    });
    const podUids = new Set(sandboxes.map(({ pod }) => pod.uid));
    this.retireEnded(new Set(stats.map(({ id }) => id)), podUids);
    const startedMs = new Map<string, number>();
    for (const { pod, createdAtMs } of sandboxes) {
      startedMs.set(pod.uid, Math.min(createdAtMs, startedMs.get(pod.uid) ?? createdAtMs));
    }
    this.latest = {
      atMs,
      node: { startedAtMs: this.nodeStartedMs, cpu: this.node.usage, memory: nodeMemory() },
      pods: this.podUsages(usages, startedMs),
    };
  }

  private containerUsage(
    { id, pod, name, atMs, cpuNanoseconds, memoryBytes, processCount }: ContainerStats,
    { startedAtMs = atMs, image }: ContainerStatus,
    monotonicMs: number,
  ): ContainerUsage {
    let tracked = this.containers.get(id);
    if (!tracked) {
      tracked = { podUid: pod.uid, counter: new CpuCounter() };
      this.containers.set(id, tracked);
    }
    const sample = { monotonicMs, coreNanoseconds: cpuNanoseconds };
    tracked.counter.add(sample, atMs - startedAtMs, freshMs);
    const cpu = tracked.counter.usage;
    return { id, name, image, startedAtMs, cpu, memoryBytes, processCount };
  }

  /** Adds the CPU time of containers that have ended to their pods, and forgets removed pods. */
  private retireEnded(running: ReadonlySet<ContainerId>, podUids: ReadonlySet<string>): void {
    for (const [id, { podUid, counter }] of this.containers) {
      if (running.has(id)) continue;
      this.containers.delete(id);
      const before = this.endedNanoseconds.get(podUid) ?? 0;
      this.endedNanoseconds.set(podUid, before + counter.usage.coreNanoseconds);
    }
    for (const uid of this.endedNanoseconds.keys()) {
      if (!podUids.has(uid)) this.endedNanoseconds.delete(uid);
    }
  }

  private podUsages(
    usages: readonly { readonly entry: ContainerStats; readonly usage: ContainerUsage }[],
    startedMs: ReadonlyMap<string, number>,
  ): PodUsage[] {
    const byPod = new Map<string, { pod: ContainerStats['pod']; containers: ContainerUsage[] }>();
    for (const { entry, usage } of usages) {
      const known = byPod.get(entry.pod.uid);
      if (known) known.containers.push(usage);
      else byPod.set(entry.pod.uid, { pod: entry.pod, containers: [usage] });
    }
    const pods = [...byPod.values()].map(({ pod, containers }): PodUsage => {
      containers.sort((a, b) => (a.name < b.name ? -1 : 1));
      return {
        pod,
        startedAtMs: startedMs.get(pod.uid) ?? containers[0]!.startedAtMs,
        cpu: sumOf(containers, this.endedNanoseconds.get(pod.uid) ?? 0),
        memoryBytes: containers.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
        processCount: containers.reduce((sum, { processCount }) => sum + processCount, 0),
        containers,
      };
    });
    return pods.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }
}

/** The rate is known when those of all containers are. */
function sumOf(containers: readonly ContainerUsage[], endedNanoseconds: number): CpuUsage {
  let nanoCores: number | undefined = 0;
  let coreNanoseconds = endedNanoseconds;
  for (const { cpu } of containers) {
    coreNanoseconds += cpu.coreNanoseconds;
    nanoCores =
      nanoCores === undefined || cpu.nanoCores === undefined
        ? undefined
        : nanoCores + cpu.nanoCores;
  }
  return { coreNanoseconds, nanoCores };
}

function nameOf({ pod }: PodUsage): string {
  return `${pod.namespace}/${pod.name}`;
}

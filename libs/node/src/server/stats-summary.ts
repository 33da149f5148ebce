/** The body of `/stats/summary`: the latest measured usage of the node and its pods. Pure. */
import { formatTime } from '@orch/apimachinery';
import type { CpuUsage } from '../stats/cpu-counter.js';
import type { NodeFileSystem, NodeMemory, ProcessLimit } from '../stats/node-readings.js';
import type { ContainerUsage, PodUsage, UsageSnapshot } from '../stats/usage-snapshot.js';

/** What the summary contains beside CPU and memory. */
export interface NodeResources {
  readonly fileSystem: NodeFileSystem;
  readonly processLimit: ProcessLimit;
}

/** `resources`: absent if the client requests only CPU and memory. */
export function statsSummary(
  nodeName: string,
  { atMs, node, pods }: UsageSnapshot,
  resources?: NodeResources,
): object {
  const time = formatTime(atMs);
  return {
    node: {
      nodeName,
      startTime: formatTime(node.startedAtMs),
      cpu: cpuStats(time, node.cpu),
      memory: nodeMemoryStats(time, node.memory),
      ...(resources && {
        fs: { time, ...resources.fileSystem },
        runtime: { imageFs: { time, ...resources.fileSystem } },
        rlimit: {
          time,
          maxpid: resources.processLimit.processCountMax,
          curproc: resources.processLimit.processCount,
        },
      }),
    },
    pods: pods.map((pod) => podStats(time, pod, resources === undefined)),
  };
}

function podStats(time: string, usage: PodUsage, onlyCpuAndMemory: boolean): object {
  const { pod, startedAtMs, containers, cpu, memoryBytes, processCount } = usage;
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: formatTime(startedAtMs),
    containers: containers.map((container) => containerStats(time, container)),
    cpu: cpuStats(time, cpu),
    memory: memoryStats(time, memoryBytes),
    ...(!onlyCpuAndMemory && { process_stats: { process_count: processCount } }),
  };
}

function containerStats(time: string, container: ContainerUsage): object {
  const { name, startedAtMs, cpu, memoryBytes } = container;
  return {
    name,
    startTime: formatTime(startedAtMs),
    cpu: cpuStats(time, cpu),
    memory: memoryStats(time, memoryBytes),
  };
}

function cpuStats(time: string, { nanoCores, coreNanoseconds }: CpuUsage): object {
  return {
    time,
    ...(nanoCores !== undefined && { usageNanoCores: nanoCores }),
    usageCoreNanoSeconds: coreNanoseconds,
  };
}

function memoryStats(time: string, bytes: number): object {
  return { time, usageBytes: bytes, workingSetBytes: bytes, rssBytes: bytes };
}

function nodeMemoryStats(time: string, memory: NodeMemory): object {
  const { availableBytes, usageBytes, workingSetBytes, rssBytes } = memory;
  return { time, availableBytes, usageBytes, workingSetBytes, rssBytes };
}

/** What `/stats/summary` says: CPU and memory of the node's pods. Pure. */
import { formatTime } from '@orch/apimachinery';
import type { ContainerStats } from '../runtimes/container-runtime.js';

export function statsSummary(
  nodeName: string,
  stats: readonly ContainerStats[],
  node: { readonly memoryAvailableBytes: number; readonly memoryBytes: number },
  nowMs: number,
): object {
  const pods = new Map<string, ContainerStats[]>();
  for (const one of stats) pods.set(one.pod.uid, [...(pods.get(one.pod.uid) ?? []), one]);
  return {
    node: {
      nodeName,
      memory: {
        time: formatTime(nowMs),
        availableBytes: node.memoryAvailableBytes,
        usageBytes: node.memoryBytes - node.memoryAvailableBytes,
        workingSetBytes: node.memoryBytes - node.memoryAvailableBytes,
      },
    },
    pods: [...pods.values()].map((containers) => ({
      podRef: containers[0]?.pod,
      containers: containers.map((container) => ({
        name: container.name,
        cpu: {
          time: formatTime(container.atMs),
          usageCoreNanoSeconds: Math.round(container.cpuNanoseconds),
        },
        memory: {
          time: formatTime(container.atMs),
          usageBytes: container.memoryBytes,
          workingSetBytes: container.memoryBytes,
          rssBytes: container.memoryBytes,
        },
      })),
    })),
  };
}

/**
 * Fit of a pod's requests into what a node has left, and the two scores about it: prefer the emptier
 * node, and the one whose CPU and memory would be used in like measure.
 */
import { type FilterPlugin, type ScorePlugin, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';

export const nodeResourcesFit: FilterPlugin = {
  name: 'NodeResourcesFit',
  prepare: (pod) => (node) => insufficiencies(pod, node),
};

/** What the node lacks for the pod, each in the words shown to people; undefined when it fits. */
function insufficiencies(pod: PodInfo, node: NodeInfo): readonly string[] | undefined {
  const { allocatable, requested } = node;
  let reasons: string[] | undefined;
  const lacks = (reason: string) => {
    reasons ??= [];
    reasons.push(reason);
  };
  if (node.pods.size + 1 > node.podCountMax) lacks('Too many pods');
  if (pod.requestsNothing) return reasons;
  const { requests } = pod;
  if (requests.milliCpu > allocatable.milliCpu - requested.milliCpu) lacks('Insufficient cpu');
  if (requests.memoryBytes > allocatable.memoryBytes - requested.memoryBytes) {
    lacks('Insufficient memory');
  }
  if (
    requests.ephemeralStorageBytes >
    allocatable.ephemeralStorageBytes - requested.ephemeralStorageBytes
  ) {
    lacks('Insufficient ephemeral-storage');
  }
  for (const [name, count] of requests.others ?? []) {
    const free = (allocatable.others?.get(name) ?? 0) - (requested.others?.get(name) ?? 0);
    if (count > free) lacks(`Insufficient ${name}`);
  }
  return reasons;
}

/** The mean of the free shares of CPU and memory after placing the pod, 0 to 100 each. */
export const leastAllocated: ScorePlugin = {
  name: 'NodeResourcesLeastAllocated',
  weight: 1,
  prepare: (pod) => ({
    score(node) {
      const { milliCpu, memoryBytes } = requestedWith(pod, node);
      const cpu = freeScore(milliCpu, node.allocatable.milliCpu);
      const memory = freeScore(memoryBytes, node.allocatable.memoryBytes);
      return Math.trunc((cpu + memory) / 2);
    },
  }),
};

/** The opposite of `leastAllocated`: fills nodes one after another, so that empty ones can be removed. */
export const mostAllocated: ScorePlugin = {
  name: 'NodeResourcesMostAllocated',
  weight: 1,
  prepare: (pod) => ({
    score(node) {
      const { milliCpu, memoryBytes } = requestedWith(pod, node);
      const cpu = usedScore(milliCpu, node.allocatable.milliCpu);
      const memory = usedScore(memoryBytes, node.allocatable.memoryBytes);
      return Math.trunc((cpu + memory) / 2);
    },
  }),
};

/** The closer the used shares of CPU and memory are to each other, the better. */
export const balancedAllocation: ScorePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  prepare: (pod) => ({
    score(node) {
      const { milliCpu, memoryBytes } = requestedWith(pod, node);
      const cpu = usedShare(milliCpu, node.allocatable.milliCpu);
      const memory = usedShare(memoryBytes, node.allocatable.memoryBytes);
      if (cpu >= 1 || memory >= 1) return 0;
      return Math.trunc((1 - Math.abs(cpu - memory)) * scoreMax);
    },
  }),
};

function requestedWith(pod: PodInfo, node: NodeInfo) {
  return {
    milliCpu: node.requestedForScoring.milliCpu + pod.scoringRequests.milliCpu,
    memoryBytes: node.requestedForScoring.memoryBytes + pod.scoringRequests.memoryBytes,
  };
}

function freeScore(requested: number, capacity: number): number {
  if (capacity === 0 || requested > capacity) return 0;
  return Math.trunc(((capacity - requested) * scoreMax) / capacity);
}

function usedScore(requested: number, capacity: number): number {
  if (capacity === 0 || requested > capacity) return 0;
  return Math.trunc((requested * scoreMax) / capacity);
}

function usedShare(requested: number, capacity: number): number {
  return capacity === 0 ? 1 : requested / capacity;
}

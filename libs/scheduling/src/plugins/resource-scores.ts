/**
 * Scores by the use of resources after placing the pod: least or most allocated, by a function of
 * the used share, and balanced allocation of CPU and memory.
 */
import { type Plugin, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';

export interface WeightedResource {
  readonly name: string;
  readonly weight: number;
}

/** A point of a broken line: the score at a used share, both in whole percent. */
export interface ShapePoint {
  readonly utilization: number;
  /** 0 to `shapeScoreMax`. */
  readonly score: number;
}

/** The best score in the shape of a configuration. */
export const shapeScoreMax = 10;

const cpuAndMemory: readonly WeightedResource[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

export function leastAllocated(resources = cpuAndMemory): Plugin {
  return weightedPlugin('NodeResourcesLeastAllocated', resources, (used, capacity) =>
    capacity === 0 || used > capacity ? 0 : Math.trunc(((capacity - used) * scoreMax) / capacity),
  );
}

/** The opposite of `leastAllocated`: fills nodes, so that empty ones can be removed. */
export function mostAllocated(resources = cpuAndMemory): Plugin {
  return weightedPlugin('NodeResourcesMostAllocated', resources, (used, capacity) =>
    capacity === 0 ? 0 : Math.trunc((Math.min(used, capacity) * scoreMax) / capacity),
  );
}

/** Scores by the broken line through `shape`; a resource without score has no weight. */
export function requestedToCapacityRatio(
  shape: readonly ShapePoint[],
  resources = cpuAndMemory,
): Plugin {
  const points = shape.map(({ utilization, score }) => ({
    utilization,
    score: score * (scoreMax / shapeScoreMax),
  }));
  return {
    name: 'RequestedToCapacityRatio',
    score: ({ pod }) => ({
      score(node) {
        let sum = 0;
        let weights = 0;
        for (const { name, weight } of resources) {
          const { used, capacity } = useOf(name, pod, node);
          const isFull = capacity === 0 || used > capacity;
          const free = isFull ? 0 : Math.trunc(((capacity - used) * 100) / capacity);
          const score = onLine(points, 100 - free);
          if (score <= 0) continue;
          sum += score * weight;
          weights += weight;
        }
        return weights === 0 ? 0 : Math.round(sum / weights);
      },
    }),
  };
}

function onLine(points: readonly ShapePoint[], utilization: number): number {
  const next = points.findIndex((point) => utilization <= point.utilization);
  if (next === 0) return points[0]!.score;
  if (next < 0) return points.at(-1)?.score ?? 0;
  const [from, to] = [points[next - 1]!, points[next]!];
  const rise = (to.score - from.score) * (utilization - from.utilization);
  return from.score + Math.trunc(rise / (to.utilization - from.utilization));
}

/** Scores nodes higher, the closer their used shares of CPU and memory are. */
export const balancedAllocation: Plugin = {
  name: 'NodeResourcesBalancedAllocation',
  score: ({ pod }) => ({
    score(node) {
      const cpu = usedShare(useOf('cpu', pod, node));
      const memory = usedShare(useOf('memory', pod, node));
      return Math.trunc((1 - Math.abs(cpu - memory)) * scoreMax);
    },
  }),
};

function weightedPlugin(
  name: string,
  resources: readonly WeightedResource[],
  scoreOf: (used: number, capacity: number) => number,
): Plugin {
  const weights = resources.reduce((sum, { weight }) => sum + weight, 0);
  return {
    name,
    score: ({ pod }) => ({
      score(node) {
        let sum = 0;
        for (const resource of resources) {
          const { used, capacity } = useOf(resource.name, pod, node);
          sum += scoreOf(used, capacity) * resource.weight;
        }
        return weights === 0 ? 0 : Math.trunc(sum / weights);
      },
    }),
  };
}

interface ResourceUse {
  /** With the pod on the node. */
  readonly used: number;
  readonly capacity: number;
}

/** Containers without requests for CPU or memory count with an assumed use. */
function useOf(name: string, pod: PodInfo, node: NodeInfo): ResourceUse {
  const { allocatable, requested, requestedForScoring } = node;
  switch (name) {
    case 'cpu':
      return {
        used: requestedForScoring.milliCpu + pod.scoringRequests.milliCpu,
        capacity: allocatable.milliCpu,
      };
    case 'memory':
      return {
        used: requestedForScoring.memoryBytes + pod.scoringRequests.memoryBytes,
        capacity: allocatable.memoryBytes,
      };
    case 'ephemeral-storage':
      return {
        used: requested.ephemeralStorageBytes + pod.requests.ephemeralStorageBytes,
        capacity: allocatable.ephemeralStorageBytes,
      };
    default:
      return {
        used: (requested.others?.get(name) ?? 0) + (pod.requests.others?.get(name) ?? 0),
        capacity: allocatable.others?.get(name) ?? 0,
      };
  }
}

function usedShare({ used, capacity }: ResourceUse): number {
  return capacity === 0 ? 1 : Math.min(used / capacity, 1);
}

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
  return allocationPlugin('NodeResourcesLeastAllocated', resources, 'free');
}

/** The opposite of `leastAllocated`: fills nodes, so that empty ones can be removed. */
export function mostAllocated(resources = cpuAndMemory): Plugin {
  return allocationPlugin('NodeResourcesMostAllocated', resources, 'used');
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
    score({ pod }, feasible) {
      const sums = new Float64Array(feasible.length);
      const weights = new Float64Array(feasible.length);
      for (const { name, weight } of resources) {
        const { used, capacity } = usesOf(name, pod, feasible);
        for (let index = 0; index < feasible.length; index++) {
          const isFull = capacity[index] === 0 || used[index]! > capacity[index]!;
          const free = capacity[index]! - used[index]!;
          const freePercent = isFull ? 0 : Math.trunc((free * 100) / capacity[index]!);
          const score = onLine(points, 100 - freePercent);
          if (score <= 0) continue;
          sums[index]! += score * weight;
          weights[index]! += weight;
        }
      }
      return sums.map((sum, index) => (sum === 0 ? 0 : Math.round(sum / weights[index]!)));
    },
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
  score({ pod }, feasible) {
    const scores = usedShares(usesOf('cpu', pod, feasible));
    const memory = usedShares(usesOf('memory', pod, feasible));
    for (let index = 0; index < scores.length; index++) {
      scores[index] = Math.trunc((1 - Math.abs(scores[index]! - memory[index]!)) * scoreMax);
    }
    return scores;
  },
};

/** Scores the weighted mean of the free or the used shares of the resources. */
function allocationPlugin(
  name: string,
  resources: readonly WeightedResource[],
  preferred: 'free' | 'used',
): Plugin {
  const weights = resources.reduce((sum, { weight }) => sum + weight, 0);
  return {
    name,
    score({ pod }, feasible) {
      const scores = new Float64Array(feasible.length);
      if (weights === 0) return scores;
      for (const resource of resources) {
        const { used, capacity } = usesOf(resource.name, pod, feasible);
        for (let index = 0; index < scores.length; index++) {
          const total = capacity[index]!;
          if (total === 0) continue;
          const usedHere = Math.min(used[index]!, total);
          const amount = preferred === 'free' ? total - usedHere : usedHere;
          scores[index]! += Math.trunc((amount * scoreMax) / total) * resource.weight;
        }
      }
      for (let index = 0; index < scores.length; index++) {
        scores[index] = Math.trunc(scores[index]! / weights);
      }
      return scores;
    },
  };
}

/** The use of a resource by node, in the order of the nodes. */
interface ResourceUses {
  /** With the pod on the node. */
  readonly used: Float64Array;
  readonly capacity: Float64Array;
}

/** Containers without requests for CPU or memory count with an assumed use. */
function usesOf(name: string, pod: PodInfo, nodes: readonly NodeInfo[]): ResourceUses {
  const { requests, scoringRequests } = pod;
  const used = new Float64Array(nodes.length);
  const capacity = new Float64Array(nodes.length);
  for (let index = 0; index < nodes.length; index++) {
    const { allocatable, requested, requestedForScoring } = nodes[index]!;
    switch (name) {
      case 'cpu':
        used[index] = requestedForScoring.milliCpu + scoringRequests.milliCpu;
        capacity[index] = allocatable.milliCpu;
        break;
      case 'memory':
        used[index] = requestedForScoring.memoryBytes + scoringRequests.memoryBytes;
        capacity[index] = allocatable.memoryBytes;
        break;
      case 'ephemeral-storage':
        used[index] = requested.ephemeralStorageBytes + requests.ephemeralStorageBytes;
        capacity[index] = allocatable.ephemeralStorageBytes;
        break;
      default:
        used[index] = (requested.others?.get(name) ?? 0) + (requests.others?.get(name) ?? 0);
        capacity[index] = allocatable.others?.get(name) ?? 0;
    }
  }
  return { used, capacity };
}

function usedShares({ used, capacity }: ResourceUses): Float64Array {
  const shares = new Float64Array(used.length);
  for (let index = 0; index < shares.length; index++) {
    const total = capacity[index]!;
    shares[index] = total === 0 ? 1 : Math.min(used[index]! / total, 1);
  }
  return shares;
}

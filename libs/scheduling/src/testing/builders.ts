/** Pods, nodes and contexts for the tests of this library, in few words. */
import type { Node, Pod, PodSpec, Taint } from '@orch/types/core/v1';
import { ClusterCache } from '../cache/cluster-cache.js';
import type { CycleContext } from '../framework/plugin.js';
import { type PodInfo, podInfo } from '../model/pod-info.js';

export class ManualClock {
  timeMs = 1_000_000;
  monotonicMs(): number {
    return this.timeMs;
  }
}

export interface PodParts {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly requests?: Record<string, string>;
  readonly spec?: Partial<PodSpec>;
}

let uidCount = 0;

export function pod(parts: PodParts = {}): Pod {
  const { name = 'pod', namespace = 'default', labels, requests, spec } = parts;
  uidCount++;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-${uidCount}`, ...(labels && { labels }) },
    spec: {
      containers: [{ name: 'main', image: 'app', ...(requests && { resources: { requests } }) }],
      ...spec,
    },
  } as Pod;
}

export function info(parts: PodParts = {}): PodInfo {
  return podInfo(pod(parts));
}

export interface NodeParts {
  readonly labels?: Record<string, string>;
  readonly taints?: Taint[];
  readonly unschedulable?: boolean;
  readonly allocatable?: Record<string, string>;
}

export function node(name: string, parts: NodeParts = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...parts.labels } },
    spec: { taints: parts.taints, unschedulable: parts.unschedulable },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...parts.allocatable } },
  } as Node;
}

export function clusterOf(...nodes: Node[]): ClusterCache {
  const cache = new ClusterCache(new ManualClock());
  for (const entry of nodes) cache.setNode(entry);
  return cache;
}

export function contextOf(cluster: ClusterCache, parts: Partial<CycleContext> = {}): CycleContext {
  return {
    cluster,
    namespaceLabels: () => undefined,
    defaultSpread: () => [],
    hardPodAffinityWeight: 1,
    ...parts,
  };
}

/** Builders of pods, nodes, contexts and profiles for the tests of this library. */
import type { Node, Pod, PodSpec, Taint } from '@orch/types/core/v1';
import { Assumptions } from '../cache/assumptions.js';
import { ClusterCache } from '../cache/cluster-cache.js';
import { buildProfile } from '../configuration/build-profile.js';
import { type AlgorithmProvider, defaultPluginSets } from '../configuration/plugin-sets.js';
import { Cycle, type CycleContext, type NominatedPods } from '../framework/cycle.js';
import { findFeasible, unschedulableMessage } from '../framework/filtering.js';
import type { Plugin } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import { chooseBest, scoreNodes } from '../framework/scoring.js';
import type { ClusterObjects } from '../model/cluster-objects.js';
import type { NodeInfo } from '../model/node-info.js';
import { type PodInfo, podInfo } from '../model/pod-info.js';

export class ManualClock {
  timeMs = 1_000_000;
  monotonicMs(): number {
    return this.timeMs;
  }
}

export interface PodFields {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly requests?: Record<string, string>;
  readonly spec?: Partial<PodSpec>;
}

let uidCount = 0;

export function pod(fields: PodFields = {}): Pod {
  const { name = 'pod', namespace = 'default', labels, requests, spec } = fields;
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

export function info(fields: PodFields = {}): PodInfo {
  return podInfo(pod(fields));
}

export interface NodeFields {
  readonly labels?: Record<string, string>;
  readonly taints?: Taint[];
  readonly unschedulable?: boolean;
  readonly allocatable?: Record<string, string>;
}

export function node(name: string, fields: NodeFields = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...fields.labels } },
    spec: { taints: fields.taints, unschedulable: fields.unschedulable },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...fields.allocatable } },
  } as Node;
}

export function clusterOf(...nodes: Node[]): ClusterCache {
  const cache = new ClusterCache(new ManualClock());
  for (const entry of nodes) cache.setNode(entry);
  return cache;
}

export const noObjects: ClusterObjects = {
  namespaceLabels: () => undefined,
  services: () => [],
  replicaSet: () => undefined,
  statefulSet: () => undefined,
  replicationController: () => undefined,
  budgets: () => [],
  claim: () => undefined,
  volume: () => undefined,
  volumesOfClass: () => [],
  storageClass: () => undefined,
  csiNode: () => undefined,
  csiDriver: () => undefined,
  storageCapacities: () => [],
};

export interface ContextFields {
  readonly objects?: Partial<ClusterObjects>;
  /** By node name. */
  readonly nominatedPods?: NominatedPods['on'];
  readonly random?: () => number;
}

export function contextOf(cluster: ClusterCache, fields: ContextFields = {}): CycleContext {
  return {
    cluster: cluster.snapshot(),
    objects: { ...noObjects, ...fields.objects },
    assumptions: { volumes: new Assumptions(), claims: new Assumptions() },
    nominated: { size: fields.nominatedPods ? 1 : 0, on: fields.nominatedPods ?? (() => []) },
    random: fields.random ?? (() => 0.5),
  };
}

export function cycleOf(info: PodInfo, cluster: ClusterCache, fields: ContextFields = {}): Cycle {
  return new Cycle(info, contextOf(cluster, fields));
}

export function profileOf(provider: AlgorithmProvider = 'DefaultProvider'): Profile {
  return buildProfile(
    {
      schedulerName: 'default-scheduler',
      sets: defaultPluginSets(provider, true),
      args: new Map(),
      source: 'test',
    },
    { hasDefaultSpread: true, ignoredResources: [] },
  );
}

export const search = { start: 0, percentageOfNodesToScore: 0, prefersNominatedNode: false };

/** Returns the chosen node, or the message if there is none. */
export function decide(cycle: Cycle, profile: Profile = profileOf()): string {
  const { feasible, rejections } = findFeasible(cycle, profile, search);
  if (feasible.length === 0) {
    return unschedulableMessage(cycle.context.cluster.nodes.length, rejections);
  }
  const { totals } = scoreNodes(cycle, profile, feasible);
  return chooseBest(feasible, totals, cycle.context.random).name;
}

/** Returns the normalised scores of one plugin by node. */
export function scoresOf(plugin: Plugin, cycle: Cycle): Record<string, number> {
  const nodes: readonly NodeInfo[] = cycle.context.cluster.nodes;
  const scores = [{ plugin: plugin as Profile['scores'][number]['plugin'], weight: 1 }];
  const { totals } = scoreNodes(cycle, { preScores: [], scores }, nodes);
  return Object.fromEntries(nodes.map(({ name }, index) => [name, totals[index]!]));
}

/** Returns the reasons of one plugin by node; empty for feasible nodes. */
export function reasonsOf(plugin: Plugin, cycle: Cycle): Record<string, readonly string[]> {
  const filter = plugin.filter?.(cycle);
  return Object.fromEntries(
    cycle.context.cluster.nodes.map((entry) => [entry.name, filter?.(entry)?.reasons ?? []]),
  );
}

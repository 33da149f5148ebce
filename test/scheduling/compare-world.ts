/** Compares the scheduler with the naive one on a world: the feasible nodes and their scores. */
import {
  Assumptions,
  buildProfile,
  ClusterCache,
  Cycle,
  defaultPluginSets,
  findFeasible,
  type NodeInfo,
  type Profile,
  podInfo,
  scoreNodes,
} from '@orch/scheduling';
import type { Node, Pod } from '@orch/types/core/v1';
import { isFeasible } from './naive-filter.js';
import { naiveScorers } from './naive-score.js';
import type { World } from './world.js';

export function defaultProfile(): Profile {
  return buildProfile(
    {
      schedulerName: 'default-scheduler',
      sets: defaultPluginSets('DefaultProvider', true),
      args: new Map(),
      source: 'test',
    },
    { hasDefaultSpread: true, ignoredResources: [] },
  );
}

/**
 * Schedules the pods of the world one after the other on one cache, so that its snapshot is brought
 * up to date in between: each pod is placed on a feasible node, and another pod is removed. Returns
 * the differences of the first pod that has some; none if both agree.
 */
export function differences(world: World, profile: Profile): string[] {
  const cache = new ClusterCache({ monotonicMs: () => 0 });
  for (const node of world.nodes) cache.setNode(node);
  for (const pod of world.placed) cache.setPod(podInfo(pod), pod.spec?.nodeName ?? '');
  let present = world;
  for (const next of [undefined, ...world.later]) {
    if (next) present = { ...present, incoming: next };
    const { found, node } = compared(present, profile, cache);
    if (found.length > 0) return found.map((text) => `${nameOf(present.incoming)}: ${text}`);
    present = changed(present, cache, node);
  }
  return [];
}

/** Places the pod on the node, and removes the oldest pod. */
function changed(world: World, cache: ClusterCache, nodeName: string | undefined): World {
  const [oldest, ...others] = world.placed;
  if (oldest) cache.removePod(podInfo(oldest).key);
  if (nodeName === undefined) return { ...world, placed: others };
  const { incoming } = world;
  const placed = { ...incoming, spec: { ...incoming.spec, nodeName } } as Pod;
  cache.setPod(podInfo(placed), nodeName);
  return { ...world, placed: [...others, placed] };
}

function compared(
  world: World,
  profile: Profile,
  cache: ClusterCache,
): { found: string[]; node: string | undefined } {
  const cycle = cycleOf(world, cache);
  const { feasible } = findFeasible(cycle, profile, {
    ...{ start: 0, percentageOfNodesToScore: 100, prefersNominatedNode: false },
  });
  const names = feasible.map(({ name }) => name).sort();
  const expected = world.nodes
    .filter((node) => isFeasible(world, node))
    .map(nameOf)
    .sort();
  const [node] = expected;
  if (JSON.stringify(names) !== JSON.stringify(expected)) {
    const text = `feasible: the scheduler found [${names}], the naive one [${expected}]`;
    return { found: [text], node };
  }
  return { found: node ? scoreDifferences(world, cycle, profile, feasible) : [], node };
}

const nameOf = ({ metadata }: Node | Pod): string => metadata?.name ?? '';

function scoreDifferences(
  world: World,
  cycle: Cycle,
  profile: Profile,
  feasible: readonly NodeInfo[],
): string[] {
  const { byPlugin } = scoreNodes(cycle, profile, feasible);
  const nodes = feasible.map(({ name }) => world.nodes.find((node) => nameOf(node) === name)!);
  return Object.entries(naiveScorers).flatMap(([plugin, { weight, of }]) => {
    const found = byPlugin.find((entry) => entry.plugin === plugin);
    const expected = of(world, nodes);
    // A plugin that does not apply may be left out: it does not change the order of the nodes.
    if (!found) return new Set(expected).size === 1 ? [] : [`${plugin} has no scores`];
    const scores = [...found.scores];
    if (found.weight === weight && JSON.stringify(scores) === JSON.stringify(expected)) return [];
    return [
      `${plugin}: the scheduler scored [${scores}] x ${found.weight}, the naive one [${expected}] x ${weight}`,
    ];
  });
}

function byName<T extends Pick<Node, 'metadata'>>(objects: readonly T[]) {
  return (name: string) => objects.find(({ metadata }) => metadata?.name === name);
}

function cycleOf(world: World, cache: ClusterCache): Cycle {
  const { namespaces, services, nominated, incoming } = world;
  const waiting = nominated.map(({ pod, node }) => ({ info: podInfo(pod), node }));
  const nothing = () => undefined;
  const none = () => [];
  return new Cycle(podInfo(incoming), {
    cluster: cache.snapshot(),
    objects: {
      namespaceLabels: (name) =>
        namespaces.find(({ metadata }) => metadata?.name === name)?.metadata?.labels,
      services: (namespace) => services.filter(({ metadata }) => metadata?.namespace === namespace),
      ...{ replicaSet: nothing, statefulSet: nothing, replicationController: nothing },
      ...{ budgets: none, storageCapacities: none, csiDriver: nothing },
      claim: (key) =>
        world.claims.find(({ metadata }) => `${metadata?.namespace}/${metadata?.name}` === key),
      volume: byName(world.volumes),
      volumesOfClass: (name) => world.volumes.filter(({ spec }) => spec?.storageClassName === name),
      storageClass: byName(world.classes),
      csiNode: byName(world.csiNodes),
    },
    assumptions: { volumes: new Assumptions(), claims: new Assumptions() },
    nominated: {
      size: waiting.length,
      on: (name) => waiting.filter(({ node }) => node === name).map(({ info }) => info),
    },
    random: () => 0,
  });
}

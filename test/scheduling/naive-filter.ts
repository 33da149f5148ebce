/**
 * Whether a node takes a pod, straight from the documentation of the filters: every rule reads
 * the whole world again.
 */
import { dialect } from '@orch/component';
import type { Node, Pod, TopologySpreadConstraint } from '@orch/types/core/v1';
import {
  admitsNode,
  amountOf,
  hostPorts,
  labelsOf,
  namespaceOf,
  requestOf,
  resourceNames,
  selectsLabels,
  termSelects,
  tolerated,
} from './naive-matching.js';
import { takesVolumes } from './naive-volumes.js';
import type { World } from './world.js';

export const podsOn = (world: World, node: Node): Pod[] =>
  world.placed.filter(({ spec }) => spec?.nodeName === node.metadata?.name);

export const nodeOf = (world: World, pod: Pod): Node =>
  world.nodes.find(({ metadata }) => metadata?.name === pod.spec?.nodeName)!;

/** Also without the nominated pods of at least the same priority, which may never arrive. */
export function isFeasible(world: World, node: Node): boolean {
  const { incoming, nominated, placed } = world;
  const here = nominated.filter(
    (entry) =>
      entry.node === node.metadata?.name &&
      (entry.pod.spec?.priority ?? 0) >= (incoming.spec?.priority ?? 0),
  );
  const arrived = here.map(({ pod }) => ({
    ...pod,
    spec: { ...pod.spec, nodeName: node.metadata?.name },
  }));
  const withThem = { ...world, placed: [...placed, ...arrived] } as World;
  return passes(world, node) && (here.length === 0 || passes(withThem, node));
}

function passes(world: World, node: Node): boolean {
  const { incoming } = world;
  return (
    isOpen(incoming, node) &&
    admitsNode(incoming, node) &&
    hasPorts(world, node) &&
    hasResources(world, node) &&
    takesVolumes(world, node, podsOn(world, node)) &&
    keepsSpread(world, node) &&
    keepsAffinity(world, node) &&
    keepsAntiAffinity(world, node)
  );
}

function isOpen(pod: Pod, { spec }: Node): boolean {
  const cordon = { key: dialect().key('unschedulable', 'node'), effect: 'NoSchedule' };
  if (spec?.unschedulable && !tolerated(pod, cordon)) return false;
  return (spec?.taints ?? [])
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .every((taint) => tolerated(pod, taint));
}

function hasPorts(world: World, node: Node): boolean {
  const used = podsOn(world, node).flatMap(hostPorts);
  return hostPorts(world.incoming).every((wanted) =>
    used.every((other) => {
      if (other.protocol !== wanted.protocol || other.port !== wanted.port) return true;
      return other.ip !== wanted.ip && other.ip !== '0.0.0.0' && wanted.ip !== '0.0.0.0';
    }),
  );
}

function hasResources(world: World, node: Node): boolean {
  const { incoming } = world;
  const here = podsOn(world, node);
  const allocatable = node.status?.allocatable ?? {};
  if (here.length + 1 > amountOf(allocatable.pods)) return false;
  const wanted = resourceNames.map((name) => requestOf(incoming, name));
  // A pod without any request fits on an overcommitted node.
  const asksForNothing = wanted.every((amount, at) => amount === 0 && !namesGpu(incoming, at));
  if (asksForNothing) return true;
  return resourceNames.every((name, at) => {
    const used = here.reduce((sum, pod) => sum + requestOf(pod, name), 0);
    const isNamed = name !== 'example.com/gpu' || namesGpu(incoming, at);
    return !isNamed || wanted[at]! <= amountOf(allocatable[name]) - used;
  });
}

/** Extended resources count only for pods that name them. */
function namesGpu(pod: Pod, at: number): boolean {
  const name = resourceNames[at]!;
  if (name !== 'example.com/gpu') return false;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  return [...containers, ...initContainers].some(
    ({ resources }) => resources?.requests?.[name] !== undefined,
  );
}

/** Counts the pods of the namespace that the selector selects and that are not ending. */
export function countSelected(
  world: World,
  nodes: readonly Node[],
  selects: (pod: Pod) => boolean,
): number {
  return nodes
    .flatMap((node) => podsOn(world, node))
    .filter((pod) => namespaceOf(pod) === namespaceOf(world.incoming))
    .filter((pod) => pod.metadata?.deletionTimestamp === undefined)
    .filter(selects).length;
}

export function hasKeys(
  node: Node,
  constraints: readonly Pick<TopologySpreadConstraint, 'topologyKey'>[],
): boolean {
  return constraints.every(({ topologyKey = '' }) => labelsOf(node)[topologyKey] !== undefined);
}

function keepsSpread(world: World, node: Node): boolean {
  const { incoming, nodes } = world;
  const constraints = (incoming.spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  );
  const eligible = nodes.filter((each) => admitsNode(incoming, each) && hasKeys(each, constraints));
  return constraints.every(({ topologyKey = '', maxSkew = 1, labelSelector }) => {
    const domain = labelsOf(node)[topologyKey];
    if (domain === undefined) return false;
    const domains = new Set(eligible.map((each) => labelsOf(each)[topologyKey]!));
    const countIn = (value: string) =>
      countSelected(
        world,
        nodes.filter((each) => labelsOf(each)[topologyKey] === value),
        (pod) => selectsLabels(labelSelector, labelsOf(pod)),
      );
    const fewest = Math.min(...[...domains].map(countIn));
    const own = selectsLabels(labelSelector, labelsOf(incoming)) ? 1 : 0;
    return (domains.has(domain) ? countIn(domain) : 0) + own - fewest <= maxSkew;
  });
}

const sameDomain = (a: Node, b: Node, key: string) =>
  labelsOf(a)[key] !== undefined && labelsOf(a)[key] === labelsOf(b)[key];

function keepsAffinity(world: World, node: Node): boolean {
  const { incoming, placed } = world;
  const terms =
    incoming.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const matching = placed.filter((pod) =>
    terms.every((term) => termSelects(world, term, incoming, pod)),
  );
  const keys = terms.map(({ topologyKey = '' }) => topologyKey);
  const isFirst =
    matching.every((pod) => keys.every((key) => labelsOf(nodeOf(world, pod))[key] === undefined)) &&
    terms.every((term) => termSelects(world, term, incoming, incoming));
  return keys.every((key) => {
    if (labelsOf(node)[key] === undefined) return false;
    return isFirst || matching.some((pod) => sameDomain(nodeOf(world, pod), node, key));
  });
}

function keepsAntiAffinity(world: World, node: Node): boolean {
  const { incoming, placed } = world;
  const termsOf = (pod: Pod) =>
    pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return placed.every((pod) => {
    const isTogether = (key: string) => sameDomain(nodeOf(world, pod), node, key);
    const repels = termsOf(pod).some(
      (term) => isTogether(term.topologyKey ?? '') && termSelects(world, term, pod, incoming),
    );
    const isRepelled = termsOf(incoming).some(
      (term) => isTogether(term.topologyKey ?? '') && termSelects(world, term, incoming, pod),
    );
    return !repels && !isRepelled;
  });
}

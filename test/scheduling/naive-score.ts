/** The scores of the default profile, straight from their documentation. */
import { dialect } from '@orch/component';
import type { Node, Pod, PodAffinityTerm } from '@orch/types/core/v1';
import { countSelected, hasKeys, nodeOf, podsOn } from './naive-filter.js';
import {
  admitsNode,
  amountOf,
  labelsOf,
  namespaceOf,
  requestOf,
  selectsLabels,
  termMatches,
  termSelects,
  tolerated,
} from './naive-matching.js';
import type { World } from './world.js';

type Scorer = (world: World, feasible: readonly Node[]) => number[];

const assumed = { cpu: 100, memory: 200 * 2 ** 20 };

/** The share of a resource that is used with the pod on the node, and the capacity. */
function use(world: World, node: Node, name: 'cpu' | 'memory') {
  const pods = [...podsOn(world, node), world.incoming];
  const used = pods.reduce((sum, pod) => sum + requestOfContainers(pod, name), 0);
  return { used, capacity: amountOf(node.status?.allocatable?.[name]) };
}

function requestOfContainers(pod: Pod, name: 'cpu' | 'memory'): number {
  return requestOf(pod, name, assumed[name]);
}

const leastAllocated: Scorer = (world, feasible) =>
  feasible.map((node) => {
    const [cpu, memory] = (['cpu', 'memory'] as const).map((name) => {
      const { used, capacity } = use(world, node, name);
      if (capacity === 0 || used > capacity) return 0;
      return Math.floor(((capacity - used) * 100) / capacity);
    });
    return Math.floor((cpu! + memory!) / 2);
  });

const balancedAllocation: Scorer = (world, feasible) =>
  feasible.map((node) => {
    const [cpu, memory] = (['cpu', 'memory'] as const).map((name) => {
      const { used, capacity } = use(world, node, name);
      return capacity === 0 ? 1 : Math.min(used / capacity, 1);
    });
    return Math.floor((1 - Math.abs(cpu! - memory!)) * 100);
  });

const imageLocality: Scorer = ({ nodes, incoming }, feasible) => {
  const sizeOn = (node: Node, name: string) =>
    (node.status?.images ?? []).reduce(
      (size, image) => ((image.names ?? []).includes(name) ? Number(image.sizeBytes) : size),
      -1,
    );
  const names = (incoming.spec?.containers ?? []).map(({ image = '' }) =>
    image.includes(':') ? image : `${image}:latest`,
  );
  const [least, most] = [23 * 2 ** 20, 1_000 * 2 ** 20 * names.length];
  return feasible.map((node) => {
    const bytes = names.reduce((sum, name) => {
      const holders = nodes.filter((each) => sizeOn(each, name) >= 0).length;
      const size = Math.max(sizeOn(node, name), 0);
      return sum + Math.floor(size * (holders / nodes.length));
    }, 0);
    const bounded = Math.min(Math.max(bytes, least), most);
    return Math.floor((100 * (bounded - least)) / (most - least));
  });
};

const podAffinity: Scorer = (world, feasible) => {
  const { incoming, placed } = world;
  const sums = feasible.map((node) =>
    placed.reduce((sum, pod) => {
      const there = nodeOf(world, pod);
      const weigh = (terms: [PodAffinityTerm, number][], owner: Pod, other: Pod) =>
        terms
          .filter(([{ topologyKey = '' }]) => {
            const domain = labelsOf(there)[topologyKey];
            return domain !== undefined && domain === labelsOf(node)[topologyKey];
          })
          .filter(([term]) => termSelects(world, term, owner, other))
          .reduce((total, [, weight]) => total + weight, 0);
      const required =
        pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      return (
        sum +
        weigh(preferredTerms(incoming), incoming, pod) +
        weigh(preferredTerms(pod), pod, incoming) +
        weigh(
          required.map((term) => [term, 1]),
          pod,
          incoming,
        )
      );
    }, 0),
  );
  const [lowest, highest] = [Math.min(...sums), Math.max(...sums)];
  return sums.map((sum) =>
    highest === lowest ? 0 : Math.floor(100 * ((sum - lowest) / (highest - lowest))),
  );
};

/** Preferred terms with their weight, negative ones of anti-affinity. */
function preferredTerms(pod: Pod): [PodAffinityTerm, number][] {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const of = (kind: typeof podAffinity, sign: number) =>
    (kind?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm, weight = 0 }): [PodAffinityTerm, number] => [
        podAffinityTerm!,
        sign * weight,
      ],
    );
  return [...of(podAffinity, 1), ...of(podAntiAffinity, -1)];
}

const nodeAffinity: Scorer = ({ incoming }, feasible) => {
  const terms =
    incoming.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const sums = feasible.map((node) =>
    terms.reduce(
      (sum, { weight = 0, preference }) => sum + (termMatches(preference ?? {}, node) ? weight : 0),
      0,
    ),
  );
  const highest = Math.max(...sums);
  return sums.map((sum) => (highest === 0 ? 0 : Math.floor((sum * 100) / highest)));
};

const softTaints: Scorer = ({ incoming }, feasible) => {
  const effect = 'PreferNoSchedule';
  const counts = feasible.map(
    ({ spec }) =>
      (spec?.taints ?? []).filter(
        (taint) => taint.effect === effect && !tolerated(incoming, taint, effect),
      ).length,
  );
  const highest = Math.max(...counts);
  return counts.map((count) => (highest === 0 ? 100 : 100 - Math.floor((count * 100) / highest)));
};

const avoidedPods: Scorer = ({ incoming }, feasible) =>
  feasible.map(({ metadata }) => {
    const isAvoided = metadata?.annotations !== undefined;
    return isAvoided && incoming.metadata?.ownerReferences ? 0 : 100;
  });

interface SoftConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly selects: (pod: Pod) => boolean;
}

function softConstraints({ incoming, services }: World): SoftConstraint[] {
  const own = incoming.spec?.topologySpreadConstraints ?? [];
  if (own.length > 0) {
    return own
      .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')
      .map(({ topologyKey = '', maxSkew = 1, labelSelector }) => ({
        ...{ topologyKey, maxSkew },
        selects: (pod) => selectsLabels(labelSelector, labelsOf(pod)),
      }));
  }
  const selectors = services
    .filter(({ metadata }) => metadata?.namespace === namespaceOf(incoming))
    .map(({ spec }) => spec?.selector ?? {})
    .filter((selector) => Object.keys(selector).length > 0)
    .filter((matchLabels) => selectsLabels({ matchLabels }, labelsOf(incoming)));
  if (selectors.length === 0) return [];
  const selects = (pod: Pod) =>
    selectors.every((matchLabels) => selectsLabels({ matchLabels }, labelsOf(pod)));
  return [
    { topologyKey: dialect().key('hostname'), maxSkew: 3, selects },
    { topologyKey: dialect().key('zone', 'topology'), maxSkew: 5, selects },
  ];
}

const spread: Scorer = (world, feasible) => {
  const constraints = softConstraints(world);
  if (constraints.length === 0) return feasible.map(() => 0);
  const { nodes, incoming } = world;
  const hostname = dialect().key('hostname');
  const ranked = feasible.filter((node) => hasKeys(node, constraints));
  const eligible = nodes.filter((node) => admitsNode(incoming, node) && hasKeys(node, constraints));
  const raw = feasible.map((node) => {
    if (!ranked.includes(node)) return undefined;
    const sum = constraints.reduce((total, { topologyKey, maxSkew, selects }) => {
      const domain = labelsOf(node)[topologyKey];
      const isHost = topologyKey === hostname;
      const members = isHost
        ? [node]
        : eligible.filter((each) => labelsOf(each)[topologyKey] === domain);
      const domains = new Set(ranked.map((each) => labelsOf(each)[topologyKey]));
      const weight = Math.log((isHost ? ranked.length : domains.size) + 2);
      return total + (countSelected(world, members, selects) * weight + (maxSkew - 1));
    }, 0);
    return Math.floor(sum);
  });
  const known = raw.filter((score) => score !== undefined);
  const [lowest, highest] = [Math.min(...known), Math.max(0, ...known)];
  return raw.map((score) => {
    if (score === undefined) return 0;
    return highest === 0 ? 100 : Math.floor((100 * (highest + lowest - score)) / highest);
  });
};

/** The plugins of the default profile with their weights. */
export const naiveScorers: Readonly<
  Record<string, { readonly weight: number; readonly of: Scorer }>
> = {
  NodeResourcesBalancedAllocation: { weight: 1, of: balancedAllocation },
  ImageLocality: { weight: 1, of: imageLocality },
  InterPodAffinity: { weight: 1, of: podAffinity },
  NodeResourcesLeastAllocated: { weight: 1, of: leastAllocated },
  NodeAffinity: { weight: 1, of: nodeAffinity },
  NodePreferAvoidPods: { weight: 10_000, of: avoidedPods },
  PodTopologySpread: { weight: 2, of: spread },
  TaintToleration: { weight: 1, of: softTaints },
};

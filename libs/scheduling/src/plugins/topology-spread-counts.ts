/**
 * Matching pods per topology domain, for the constraints of a pod. A node that the pod's selector
 * and affinity admit and that has all keys is eligible; its domains are counted.
 */
import type { CycleContext } from '../framework/cycle.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo, SpreadConstraint } from '../model/pod-info.js';
import { matchingCounter } from './matching-pods.js';

/** Counts the pods of all nodes of a domain, or only of eligible ones. */
export type CountedNodes = 'all' | 'eligible';

export class DomainCounts {
  private constructor(
    readonly constraints: readonly SpreadConstraint[],
    /** Per constraint: value of the topology key -> count. */
    private readonly counts: readonly Map<string, number>[],
  ) {}

  static ofCluster(
    pod: PodInfo,
    { cluster }: CycleContext,
    constraints: readonly SpreadConstraint[],
    counted: CountedNodes,
  ): DomainCounts {
    const withKeys = nodesWithAllKeys(cluster.nodes, constraints);
    const { requiredNodes } = pod;
    const eligible = requiredNodes ? withKeys.filter(requiredNodes) : withKeys;
    const nodes = counted === 'all' ? cluster.nodes : eligible;
    const counts = constraints.map(({ topologyKey, selector }) => {
      const domains = new Map<string, number>();
      for (const node of eligible) domains.set(node.labels[topologyKey]!, 0);
      const countOn = matchingCounter(pod.namespace, selector);
      for (const node of nodes) {
        const domain = node.labels[topologyKey];
        const known = domain === undefined ? undefined : domains.get(domain);
        if (domain === undefined || known === undefined) continue;
        const count = countOn(node);
        if (count > 0) domains.set(domain, known + count);
      }
      return domains;
    });
    return new DomainCounts(constraints, counts);
  }

  clone(): DomainCounts {
    return new DomainCounts(
      this.constraints,
      this.counts.map((domains) => new Map(domains)),
    );
  }

  /** Applies a pod that is added to a node or removed from it. */
  move(pod: PodInfo, node: NodeInfo, moved: PodInfo, sign: 1 | -1): void {
    if (moved.namespace !== pod.namespace || moved.terminating) return;
    this.constraints.forEach((constraint, index) => {
      if (this.at(index, node) === undefined) return;
      if (constraint.selector.matches(moved.labels)) this.add(index, node, sign);
    });
  }

  /** Returns the count in the node's domain; undefined if that is not counted. */
  at(index: number, node: NodeInfo): number | undefined {
    const domain = node.labels[this.constraints[index]!.topologyKey];
    return domain === undefined ? undefined : this.counts[index]!.get(domain);
  }

  /** Returns the lowest count of all domains; infinity without domains. */
  fewest(index: number): number {
    let fewest = Number.POSITIVE_INFINITY;
    for (const count of this.counts[index]!.values()) fewest = Math.min(fewest, count);
    return fewest;
  }

  private add(index: number, node: NodeInfo, amount: number): void {
    const domain = node.labels[this.constraints[index]!.topologyKey]!;
    const domains = this.counts[index]!;
    domains.set(domain, (domains.get(domain) ?? 0) + amount);
  }
}

/** Returns the nodes that have the topology keys of all constraints. */
export function nodesWithAllKeys(
  nodes: readonly NodeInfo[],
  constraints: readonly SpreadConstraint[],
): readonly NodeInfo[] {
  let found = nodes;
  for (const { topologyKey } of constraints) found = nodesWithLabel(found, topologyKey);
  return found;
}

function nodesWithLabel(nodes: readonly NodeInfo[], key: string): NodeInfo[] {
  const found: NodeInfo[] = [];
  for (const node of nodes) if (node.labels[key] !== undefined) found.push(node);
  return found;
}

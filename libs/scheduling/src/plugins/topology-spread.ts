/**
 * Spreading of pods over topology domains: a filter for hard constraints, a score for soft ones.
 * Pods without constraints get those of the profile, with the selector of their services and
 * controller.
 */
import { dialect } from '@orch/component';
import { type Cycle, StateKey } from '../framework/cycle.js';
import { finalRejection, type Plugin, rejection } from '../framework/plugin.js';
import { nodeHas, nodeHasNot, type Remedy } from '../framework/remedy.js';
import type { NodeInfo } from '../model/node-info.js';
import type { SpreadConstraint } from '../model/pod-info.js';
import { ownerSelector } from './owner-selector.js';
import { DomainCounts } from './topology-spread-counts.js';
import { spreadScores } from './topology-spread-score.js';

export type DefaultConstraint = Omit<SpreadConstraint, 'selector'>;

/** Over nodes, and with a larger skew over zones. */
export function systemConstraints(): DefaultConstraint[] {
  return [
    { maxSkew: 3, topologyKey: dialect().key('hostname'), whenUnsatisfiable: 'ScheduleAnyway' },
    {
      maxSkew: 5,
      topologyKey: dialect().key('zone', 'topology'),
      whenUnsatisfiable: 'ScheduleAnyway',
    },
  ];
}

const hardState = new StateKey<DomainCounts | undefined>('hard spread', (counts) =>
  counts?.clone(),
);

export function podTopologySpread(defaults: readonly DefaultConstraint[]): Plugin {
  const hardCounts = (cycle: Cycle) =>
    cycle.once(hardState, () => {
      const hard = constraintsOf(cycle, defaults, 'DoNotSchedule');
      return hard.length === 0
        ? undefined
        : DomainCounts.ofCluster(cycle.pod, cycle.context, hard, 'all');
    });
  return {
    name: 'PodTopologySpread',
    retryOn: ['node added', 'node changed', 'pod assigned', 'pod removed'],
    preFilter(cycle) {
      hardCounts(cycle);
      return undefined;
    },
    filter(cycle) {
      const counts = hardCounts(cycle);
      return counts && hardFilter(cycle, counts);
    },
    remedies: (cycle, node) => {
      const counts = hardCounts(cycle);
      return counts ? spreadRemedies(cycle, counts, node) : [];
    },
    movePod(cycle, node, pod, sign) {
      hardCounts(cycle)?.move(cycle.pod, node, pod, sign);
    },
    // The counts depend on the feasible nodes, so that they are part of the scores.
    preScore: () => undefined,
    score(cycle, feasible) {
      const soft = constraintsOf(cycle, defaults, 'ScheduleAnyway');
      return soft.length === 0 ? undefined : spreadScores(cycle, soft, feasible);
    },
  };
}

function hardFilter(
  { pod }: Cycle,
  counts: DomainCounts,
): ReturnType<NonNullable<Plugin['filter']>> {
  const { constraints } = counts;
  const fewest = constraints.map((_, index) => counts.fewest(index));
  const own = constraints.map((constraint) => (constraint.selector.matches(pod.labels) ? 1 : 0));
  const missing = finalRejection(
    "node(s) didn't match pod topology spread constraints (missing required label)",
  );
  const skewed = rejection("node(s) didn't match pod topology spread constraints");
  return (node) => {
    for (const [index, constraint] of constraints.entries()) {
      if (node.labels[constraint.topologyKey] === undefined) return missing;
      const count = counts.at(index, node) ?? 0;
      if (count + own[index]! - fewest[index]! > constraint.maxSkew) return skewed;
    }
    return undefined;
  };
}

function spreadRemedies({ pod }: Cycle, counts: DomainCounts, node: NodeInfo): Remedy[] {
  return counts.constraints.flatMap(({ topologyKey, selector, maxSkew }, index) => {
    const domain = node.labels[topologyKey];
    if (domain === undefined) return [nodeHasNot(`label ${topologyKey} of a spread constraint`)];
    const fewest = counts.fewest(index);
    const count = counts.at(index, node) ?? 0;
    const skew = count + (selector.matches(pod.labels) ? 1 : 0) - fewest;
    if (skew <= maxSkew) return [];
    const here = `${count} matching pods in ${topologyKey}=${domain}`;
    return [nodeHas(`${here}, a skew of ${skew} with this pod (maxSkew ${maxSkew})`)];
  });
}

function constraintsOf(
  { pod, context }: Cycle,
  defaults: readonly DefaultConstraint[],
  whenUnsatisfiable: SpreadConstraint['whenUnsatisfiable'],
): readonly SpreadConstraint[] {
  const isWanted = (constraint: DefaultConstraint) =>
    constraint.whenUnsatisfiable === whenUnsatisfiable;
  if (pod.spread.length > 0) return pod.spread.filter(isWanted);
  const wanted = defaults.filter(isWanted);
  const selector = wanted.length > 0 ? ownerSelector(pod, context.objects) : undefined;
  return selector ? wanted.map((constraint) => ({ ...constraint, selector })) : [];
}

/**
 * Explains the present state of the cluster for one pod: unlike a cycle it runs every filter on
 * every node, so that all refusals of a node are known, and scores all feasible nodes.
 */
import type { NodeInfo } from '../model/node-info.js';
import type { Cycle } from './cycle.js';
import { allRejections } from './filtering.js';
import type { NamedRejection } from './plugin.js';
import type { PluginWith, Profile } from './profile.js';
import { nodeIs, type Remedy } from './remedy.js';
import { type NodeScores, scoreNodes } from './scoring.js';

export interface RefusedNode {
  readonly node: string;
  readonly rejections: readonly NamedRejection[];
  readonly remedies: readonly Remedy[];
}

export interface Evaluation {
  readonly refused: readonly RefusedNode[];
  readonly feasible: readonly string[];
  /** In the order of `feasible`. */
  readonly scores: NodeScores;
}

export function evaluateNodes(cycle: Cycle, profile: Profile): Evaluation {
  const general = profile.preFilters.flatMap((plugin) => {
    const rejected = plugin.preFilter(cycle);
    return rejected ? [{ plugin: plugin.name, ...rejected }] : [];
  });
  // The filter of a plugin may rely on what its PreFilter has accepted.
  const isAccepted = ({ name }: { name: string }) => general.every(({ plugin }) => plugin !== name);
  const filters = profile.filters.filter(isAccepted);
  const refused: RefusedNode[] = [];
  const feasible: NodeInfo[] = [];
  for (const node of cycle.context.cluster.nodes) {
    const entry = refusal(cycle, filters, general, node);
    if (entry) refused.push(entry);
    else feasible.push(node);
  }
  return {
    refused,
    feasible: feasible.map(({ name }) => name),
    scores: scoreNodes(cycle, profile, feasible),
  };
}

function refusal(
  cycle: Cycle,
  filters: readonly PluginWith<'filter'>[],
  general: readonly NamedRejection[],
  node: NodeInfo,
): RefusedNode | undefined {
  const found = allRejections(cycle, { filters }, node);
  const rejections = [...general, ...found.map(({ rejection }) => rejection)];
  if (rejections.length === 0) return undefined;
  const remedies = found.flatMap((entry) => {
    const plugin = filters.find(({ name }) => name === entry.rejection.plugin);
    const own = plugin?.remedies?.(entry.cycle, entry.node) ?? [];
    return own.length > 0 ? own : [byReasons(entry.rejection)];
  });
  return { node: node.name, rejections, remedies: [...general.map(byReasons), ...remedies] };
}

function byReasons({ plugin, reasons }: NamedRejection): Remedy {
  return nodeIs(`refused by ${plugin}: ${reasons.join(', ')}`);
}

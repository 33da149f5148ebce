/** Ranks the feasible nodes of a pod by the weighted sum of the scores of all plugins. */
import type { NodeInfo } from '../model/node-info.js';
import type { Cycle } from './cycle.js';
import type { Profile } from './profile.js';

/** The normalised scores of one plugin, in the order of the feasible nodes. */
export interface PluginScores {
  readonly plugin: string;
  readonly weight: number;
  readonly scores: Float64Array;
}

export interface NodeScores {
  /** The plugins that apply to the pod. */
  readonly byPlugin: readonly PluginScores[];
  /** The weighted sums, in the order of the feasible nodes. */
  readonly totals: Float64Array;
}

/** Runs PreScore and Score. */
export function scoreNodes(
  cycle: Cycle,
  profile: Pick<Profile, 'preScores' | 'scores'>,
  feasible: readonly NodeInfo[],
): NodeScores {
  for (const plugin of profile.preScores) plugin.preScore(cycle, feasible);
  const byPlugin: PluginScores[] = [];
  const totals = new Float64Array(feasible.length);
  for (const { plugin, weight } of profile.scores) {
    const scores = plugin.score(cycle, feasible);
    if (!scores) continue;
    for (let index = 0; index < feasible.length; index++) {
      totals[index]! += scores[index]! * weight;
    }
    byPlugin.push({ plugin: plugin.name, weight, scores });
  }
  return { byPlugin, totals };
}

/** Returns a node with the highest score; each of several is equally likely. */
export function chooseBest(
  feasible: readonly NodeInfo[],
  totals: Float64Array,
  random: () => number,
): NodeInfo {
  let best = 0;
  let equals = 1;
  for (let index = 1; index < feasible.length; index++) {
    if (totals[index]! > totals[best]!) {
      best = index;
      equals = 1;
    } else if (totals[index] === totals[best]) {
      equals++;
      if (random() < 1 / equals) best = index;
    }
  }
  return feasible[best]!;
}

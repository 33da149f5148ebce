/**
 * Makes room for a pod that fits nowhere by the eviction of pods of lower priority. Examines a
 * share of the nodes, from a random one on, until a candidate without violated budgets is among
 * them.
 */
import type { Cycle } from '../../framework/cycle.js';
import type {
  Candidate,
  Plugin,
  PostFilterInput,
  PostFilterResult,
} from '../../framework/plugin.js';
import type { NodeInfo } from '../../model/node-info.js';
import { selectVictims } from './victims.js';

export interface PreemptionOptions {
  /** Share of the nodes, in percent, among which the candidate is chosen. */
  readonly minCandidateNodesPercentage: number;
  /** Lowest number of nodes among which the candidate is chosen. */
  readonly minCandidateNodesAbsolute: number;
}

export const preemptionDefaults: PreemptionOptions = {
  minCandidateNodesPercentage: 10,
  minCandidateNodesAbsolute: 100,
};

export function defaultPreemption(options: PreemptionOptions = preemptionDefaults): Plugin {
  return {
    name: 'DefaultPreemption',
    postFilter: (cycle, input) => findCandidates(cycle, input, options),
  };
}

function findCandidates(
  cycle: Cycle,
  input: PostFilterInput,
  options: PreemptionOptions,
): PostFilterResult {
  if (!mayPreempt(cycle, input)) return { candidates: [], clearsNomination: false };
  const { cluster, objects, random } = cycle.context;
  const nodes = cluster.nodes.filter((node) => {
    const rejection = input.rejections.get(node.name);
    return rejection && !rejection.isFinal;
  });
  if (nodes.length === 0) return { candidates: [], clearsNomination: true };
  const budgets = objects.budgets();
  const wanted = candidateCount(nodes.length, options);
  const start = Math.trunc(random() * nodes.length);
  const candidates: Candidate[] = [];
  let isHarmless = false;
  for (let step = 0; step < nodes.length; step++) {
    const node = nodes[(start + step) % nodes.length]!;
    const candidate = selectVictims(cycle, node, budgets, input);
    if (!candidate) continue;
    candidates.push(candidate);
    isHarmless ||= candidate.violationCount === 0;
    if (isHarmless && candidates.length >= wanted) break;
  }
  return { candidates, clearsNomination: false };
}

function candidateCount(nodeCount: number, options: PreemptionOptions): number {
  const share = Math.trunc((nodeCount * options.minCandidateNodesPercentage) / 100);
  return Math.min(Math.max(share, options.minCandidateNodesAbsolute), nodeCount);
}

/** While victims of an earlier preemption terminate on the nominated node, the pod waits. */
function mayPreempt({ pod, context }: Cycle, { rejections }: PostFilterInput): boolean {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return false;
  if (!pod.nominatedNode) return true;
  if (rejections.get(pod.nominatedNode)?.isFinal) return true;
  const nominated = context.cluster.node(pod.nominatedNode);
  return !nominated || !hasEndingVictim(nominated, pod.priority);
}

function hasEndingVictim(node: NodeInfo, priority: number): boolean {
  for (const other of node.pods.values()) {
    if (other.terminating && other.priority < priority) return true;
  }
  return false;
}

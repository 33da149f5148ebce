/** The explanation of one pod, as the debug endpoint serves it in JSON. */
import { formatTime } from '@orch/apimachinery';
import type { Evaluation } from '../framework/explanation.js';
import { groupRemedies, remedyTexts } from '../framework/remedy.js';
import type { NodeScores } from '../framework/scoring.js';
import type { Decision } from './decisions.js';

export interface NodeReport {
  readonly name: string;
  /** The weighted sum of the scores; absent for refused nodes and if no scores were needed. */
  readonly total?: number;
  /** By plugin, from 0 to 100, before the weight. */
  readonly scores?: Readonly<Record<string, number>>;
  readonly refusals?: readonly { readonly plugin: string; readonly reasons: readonly string[] }[];
  /** What would have to change on this node: `needs 200m more cpu`. Only for pending pods. */
  readonly changes?: readonly string[];
}

export interface PodReport {
  /** `namespace/name`. */
  readonly pod: string;
  readonly uid: string;
  readonly schedulerName: string;
  /** `binding`: the node is chosen and the binding not yet confirmed. */
  readonly state: 'bound' | 'binding' | 'pending';
  readonly node?: string;
  /** The node on which a preemption makes room. */
  readonly nominatedNode?: string;
  /** Where a pending pod is in the queue, with its attempts and its next one. */
  readonly queue?: string;
  /** The time of the decision, or of this evaluation. */
  readonly evaluatedAt?: string;
  readonly nodeCount?: number;
  /** Weight by score plugin. */
  readonly weights?: Readonly<Record<string, number>>;
  /** Groups of nodes with what would have to change there, the fewest changes first. */
  readonly changes?: readonly string[];
  /** The examined nodes: feasible ones with the best score first, then refused ones. */
  readonly nodes: readonly NodeReport[];
  /** Limits of this explanation. */
  readonly notes: readonly string[];
}

type ReportedNodes = Pick<PodReport, 'evaluatedAt' | 'nodeCount' | 'weights' | 'changes' | 'nodes'>;

/** Reports the decision that placed a pod. */
export function decisionReport(decision: Decision): ReportedNodes {
  const { decidedAtMs, nodeCount, feasible, scores, added, rejections } = decision;
  return {
    evaluatedAt: formatTime(decidedAtMs),
    nodeCount,
    ...(scores && { weights: weightsOf(scores) }),
    nodes: [
      ...scoredNodes(feasible, scores, added),
      ...[...rejections].map(([name, { plugin, reasons }]) => ({
        name,
        refusals: [{ plugin, reasons }],
      })),
    ],
  };
}

/** Reports the present state of the cluster for a pending pod. */
export function evaluationReport(evaluation: Evaluation, nowMs: number): ReportedNodes {
  const { feasible, scores, refused } = evaluation;
  return {
    evaluatedAt: formatTime(nowMs),
    nodeCount: feasible.length + refused.length,
    weights: weightsOf(scores),
    changes: groupRemedies(refused).map(({ text }) => text),
    nodes: [
      ...scoredNodes(feasible, scores),
      ...refused.map(({ node, rejections, remedies }) => ({
        name: node,
        refusals: rejections.map(({ plugin, reasons }) => ({ plugin, reasons })),
        changes: remedyTexts(remedies),
      })),
    ],
  };
}

function weightsOf({ byPlugin }: NodeScores): Record<string, number> {
  return Object.fromEntries(byPlugin.map(({ plugin, weight }) => [plugin, weight]));
}

/** The best node first. */
function scoredNodes(
  feasible: readonly string[],
  scores: NodeScores | undefined,
  added?: ReadonlyMap<string, number>,
): NodeReport[] {
  if (!scores) return feasible.map((name) => ({ name }));
  return feasible
    .map((name, index) => ({
      name,
      total: scores.totals[index]!,
      scores: Object.fromEntries([
        ...scores.byPlugin.map(({ plugin, scores: row }) => [plugin, row[index]!]),
        ...(added ? [['extenders', added.get(name) ?? 0]] : []),
      ]) as Record<string, number>,
    }))
    .sort((a, b) => b.total - a.total);
}

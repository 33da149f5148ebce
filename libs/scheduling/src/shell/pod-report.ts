/** Builds the explanation of one pod, which the debug endpoint serves in JSON. */
import { formatTime } from '@orch/apimachinery';
import type { NodeReport, PodReport } from '@orch/client';
import type { Evaluation } from '../framework/explanation.js';
import { groupRemedies, remedyTexts } from '../framework/remedy.js';
import type { NodeScores } from '../framework/scoring.js';
import type { Decision } from './decisions.js';

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

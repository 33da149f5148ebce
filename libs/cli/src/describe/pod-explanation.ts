/** The text of the scheduler's explanation of one pod: a summary and a table of nodes. */
import type { NodeReport, PodReport } from '@orch/client';
import { printable, TableWriter } from '../output/table.js';

/** Groups of nodes in the summary; the first ones need the fewest changes. */
const shownGroupCount = 10;

/** @param nodeCountMax rows of the table of nodes; the best ones are first */
export function explanationText(explanation: PodReport, nodeCountMax: number): string {
  const { nodes } = explanation;
  const shown = nodes.slice(0, nodeCountMax);
  const hiddenCount = nodes.length - shown.length;
  return [
    new TableWriter().format(header(explanation)),
    changesText(explanation),
    shown.length > 0 ? `\n${nodeTable(shown, explanation.weights ?? {})}` : '',
    hiddenCount > 0 ? `... and ${hiddenCount} more nodes; --all-nodes lists them\n` : '',
  ].join('');
}

function header(explanation: PodReport): string[][] {
  const { pod, schedulerName, state, node, nominatedNode, queue, evaluatedAt } = explanation;
  const { nodes, nodeCount, notes } = explanation;
  const feasibleCount = nodes.filter(({ refusals }) => !refusals).length;
  return [
    ['Pod:', pod],
    ['Scheduler:', schedulerName],
    ['State:', [state, queue].filter(Boolean).join(', ')],
    ...(node ? [['Node:', node]] : []),
    ...(nominatedNode ? [['Nominated:', `${nominatedNode}, where pods are evicted for it`]] : []),
    ...(evaluatedAt ? [['Evaluated:', evaluatedAt]] : []),
    ...(nodeCount === undefined
      ? []
      : [['Feasible:', `${feasibleCount} of ${nodes.length} examined nodes, ${nodeCount} exist`]]),
    ...notes.map((note) => ['Note:', note]),
  ];
}

function changesText({ changes = [] }: PodReport): string {
  if (changes.length === 0) return '';
  const shown = changes.slice(0, shownGroupCount).map((change) => `  ${printable(change)}\n`);
  const hiddenCount = changes.length - shown.length;
  const more = hiddenCount > 0 ? `  ... and ${hiddenCount} more groups of nodes\n` : '';
  return `What would have to change:\n${shown.join('')}${more}`;
}

function nodeTable(
  nodes: readonly NodeReport[],
  weights: Readonly<Record<string, number>>,
): string {
  const rows = nodes.map((node) => [
    node.name,
    node.refusals ? 'refused' : String(node.total ?? 'only node'),
    details(node, weights),
  ]);
  return new TableWriter().format([['NODE', 'SCORE', 'DETAILS'], ...rows]);
}

/** Refusals by plugin, or scores by plugin with their weights. */
function details(
  { refusals, changes, scores = {} }: NodeReport,
  weights: Readonly<Record<string, number>>,
): string {
  if (refusals) {
    const plugins = refusals.map(({ plugin, reasons }) => `${plugin}: ${reasons.join(', ')}`);
    return changes ? `${plugins.join('; ')} (${changes.join(' and ')})` : plugins.join('; ');
  }
  return Object.entries(scores)
    .map(([plugin, score]) => {
      const weight = weights[plugin] ?? 1;
      return `${plugin} ${score}${weight === 1 ? '' : ` x ${weight}`}`;
    })
    .join(', ');
}

/**
 * Compiles the selection of nodes by a pod to predicates: its node selector and its required node
 * affinity, with `Gt`, `Lt` and fields.
 */
import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
} from '@orch/types/core/v1';

type NodeLabels = Readonly<Record<string, string>>;
type LabelPredicate = (labels: NodeLabels) => boolean;

/** The attributes of a node that a node selector can match. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: NodeLabels;
}
export type NodePredicate = (node: SelectableNode) => boolean;

/**
 * Compiles the node selector and the required node affinity of a pod; undefined if every node
 * matches.
 */
export function requiredNodesPredicate(spec: Partial<PodSpec> = {}): NodePredicate | undefined {
  const pairs = spec.nodeSelector;
  const selector = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const predicates = [
    ...(pairs && Object.keys(pairs).length > 0 ? [nodeLabelsPredicate(pairs)] : []),
    ...(selector ? [nodeSelectorPredicate(selector)] : []),
  ];
  if (predicates.length === 0) return undefined;
  return (node) => predicates.every((matches) => matches(node));
}

/**
 * Compiles a node selector: one of the terms must match; a selector without terms matches nothing.
 */
export function nodeSelectorPredicate(selector: NodeSelector): NodePredicate {
  const terms = (selector.nodeSelectorTerms ?? []).map(nodeTermPredicate);
  return (node) => terms.some((matches) => matches(node));
}

/** Compiles a term: all requirements must match; a term without requirements matches nothing. */
export function nodeTermPredicate(term: NodeSelectorTerm): NodePredicate {
  const expressions = (term.matchExpressions ?? []).map(nodeRequirement);
  const fields = (term.matchFields ?? []).map(nodeRequirement);
  if (expressions.length + fields.length === 0) return () => false;
  return (node) =>
    expressions.every((matches) => matches(node.labels)) &&
    (fields.length === 0 || fields.every((matches) => matches({ 'metadata.name': node.name })));
}

/** Compiles a `nodeSelector` map: every pair must be a label of the node. */
function nodeLabelsPredicate(pairs: NodeLabels): NodePredicate {
  const wanted = Object.entries(pairs);
  return (node) => wanted.every(([key, value]) => node.labels[key] === value);
}

function nodeRequirement(requirement: NodeSelectorRequirement): LabelPredicate {
  return requirementPredicate(requirement.key, requirement.operator, requirement.values ?? []);
}

function requirementPredicate(
  key: string,
  operator: string,
  values: readonly string[],
): LabelPredicate {
  switch (operator) {
    case 'In':
      return (labels) => labels[key] !== undefined && values.includes(labels[key]);
    case 'NotIn':
      return (labels) => labels[key] === undefined || !values.includes(labels[key]);
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    case 'DoesNotExist':
      return (labels) => labels[key] === undefined;
    case 'Gt':
      return (labels) => compare(labels[key], values[0], (label, bound) => label > bound);
    case 'Lt':
      return (labels) => compare(labels[key], values[0], (label, bound) => label < bound);
    default:
      return () => false;
  }
}

function compare(
  label: string | undefined,
  bound: string | undefined,
  holds: (label: bigint, bound: bigint) => boolean,
): boolean {
  const whole = /^[+-]?\d{1,19}$/;
  if (label === undefined || bound === undefined) return false;
  if (!whole.test(label) || !whole.test(bound)) return false;
  return holds(BigInt(label.replace(/^\+/, '')), BigInt(bound.replace(/^\+/, '')));
}

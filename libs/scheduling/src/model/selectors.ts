/**
 * Selectors compiled to predicates, once per pod: node selector terms (with `Gt`, `Lt` and fields) and
 * label selectors of affinity and spread constraints.
 */
import { labelSelectorFromObject, SelectorError } from '@orch/apimachinery';
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '@orch/types/core/v1';
import type { LabelSelector } from '@orch/types/meta/v1';

export type Labels = Readonly<Record<string, string>>;
export type LabelPredicate = (labels: Labels) => boolean;

/** What a node selector looks at. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}
export type NodePredicate = (node: SelectableNode) => boolean;

/**
 * Absent selects nothing, empty selects everything. A selector that the server should have refused
 * selects nothing: one broken object must not keep all others from being placed.
 */
export function labelPredicate(selector: LabelSelector | undefined): LabelPredicate {
  try {
    const compiled = labelSelectorFromObject(selector);
    return (labels) => compiled.matches(labels);
  } catch (error) {
    if (error instanceof SelectorError) return () => false;
    throw error;
  }
}

/** One of the terms must match; a selector without terms matches nothing. */
export function nodeSelectorPredicate(selector: NodeSelector): NodePredicate {
  const terms = (selector.nodeSelectorTerms ?? []).map(nodeTermPredicate);
  return (node) => terms.some((matches) => matches(node));
}

/** All requirements of a term must match; a term without requirements matches nothing. */
export function nodeTermPredicate(term: NodeSelectorTerm): NodePredicate {
  const expressions = (term.matchExpressions ?? []).map(nodeRequirement);
  const fields = (term.matchFields ?? []).map(nodeRequirement);
  if (expressions.length + fields.length === 0) return () => false;
  return (node) =>
    expressions.every((matches) => matches(node.labels)) &&
    (fields.length === 0 || fields.every((matches) => matches({ 'metadata.name': node.name })));
}

/** Every pair of a plain `nodeSelector` map must be a label of the node. */
export function nodeLabelsPredicate(pairs: Labels): NodePredicate {
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

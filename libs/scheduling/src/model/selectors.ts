/** Compiles the label selectors of affinity and spread constraints to predicates, once per pod. */
import { labelSelectorFromObject, SelectorError } from '@orch/apimachinery';
import type { LabelSelector } from '@orch/types/meta/v1';

export type Labels = Readonly<Record<string, string>>;
export type LabelPredicate = (labels: Labels) => boolean;

/**
 * Compiles a label selector. An absent selector selects nothing, an empty one everything. An
 * invalid selector, which the server should have rejected, selects nothing, so that one object
 * cannot block scheduling.
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

/** A selector of pods. Selectors with the same key select the same labels. */
export interface PodSelector {
  readonly key: string;
  readonly matches: LabelPredicate;
}

/** Objects of a cache do not change, and the selector of an owner applies to each of its pods. */
const compiledSelectors = new WeakMap<LabelSelector, PodSelector>();

export function podSelector(selector: LabelSelector | undefined): PodSelector {
  if (!selector) return { key: '', matches: labelPredicate(undefined) };
  let compiled = compiledSelectors.get(selector);
  if (!compiled) {
    compiled = { key: JSON.stringify(selector), matches: labelPredicate(selector) };
    compiledSelectors.set(selector, compiled);
  }
  return compiled;
}

/**
 * Converts the selector of PodDisruptionBudget between `v1beta1` and the stored `v1`. An empty
 * selector matches no pods in the older version and all pods in the newer one. If a version cannot
 * express a selector plainly, it gets a requirement on a reserved label that no pod has.
 */
import { deepEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import type { ApiObject } from '../definition.js';

function standInLabel(): string {
  return dialect().key('deprecated-v1beta1-empty-selector-match', 'pdb');
}

/** Matches nothing in the newer version. */
function nothing(): LabelSelector {
  return { matchExpressions: [{ key: standInLabel(), operator: 'Exists' }] };
}

/** Matches everything in the older version. */
function everything(): LabelSelector {
  return { matchExpressions: [{ key: standInLabel(), operator: 'DoesNotExist' }] };
}

function isEmpty({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions?.length ?? 0) === 0;
}

function isJust(selector: LabelSelector, other: LabelSelector): boolean {
  return (
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    deepEqual(selector.matchExpressions, other.matchExpressions)
  );
}

function withoutStandIn(selector: LabelSelector): LabelSelector {
  const { matchExpressions, ...others } = selector;
  const remaining = matchExpressions?.filter(({ key }) => key !== standInLabel()) ?? [];
  return remaining.length === 0 ? others : { ...others, matchExpressions: remaining };
}

function withSelector(
  budget: PodDisruptionBudget,
  convert: (selector: LabelSelector) => LabelSelector,
): PodDisruptionBudget {
  const selector = budget.spec?.selector;
  if (!selector) return { ...budget };
  return { ...budget, spec: { ...budget.spec, selector: convert(selector) } };
}

export function betaBudgetToStored(object: PodDisruptionBudget): PodDisruptionBudget {
  return withSelector(object, (selector) => {
    if (isEmpty(selector)) return nothing();
    return isJust(selector, everything()) ? {} : withoutStandIn(selector);
  });
}

export function betaBudgetFromStored(object: PodDisruptionBudget): ApiObject {
  return withSelector(object, (selector) => {
    if (isEmpty(selector)) return everything();
    return isJust(selector, nothing()) ? {} : withoutStandIn(selector);
  });
}

/**
 * PodDisruptionBudget between `v1beta1` and the stored `v1`. They differ in what an empty selector means:
 * no pods in the older version, all of them in the newer one. What one version has no plain word for, it
 * says by a requirement on a label that no pod has; that label means nothing anywhere else.
 */
import { deepEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import type { ApiObject } from '../definition.js';

function standInLabel(): string {
  return dialect().key('deprecated-v1beta1-empty-selector-match', 'pdb');
}

/** Selects nothing in the newer version. */
function nothing(): LabelSelector {
  return { matchExpressions: [{ key: standInLabel(), operator: 'Exists' }] };
}

/** Selects everything in the older version. */
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
  const kept = matchExpressions?.filter(({ key }) => key !== standInLabel()) ?? [];
  return kept.length === 0 ? others : { ...others, matchExpressions: kept };
}

function withSelector(
  object: ApiObject,
  convert: (selector: LabelSelector) => LabelSelector,
): PodDisruptionBudget {
  const budget = object as PodDisruptionBudget;
  const selector = budget.spec?.selector;
  if (!selector) return { ...budget };
  return { ...budget, spec: { ...budget.spec, selector: convert(selector) } };
}

export function betaBudgetToStored(object: ApiObject): PodDisruptionBudget {
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

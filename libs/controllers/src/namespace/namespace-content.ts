/**
 * The remaining content of a namespace that is being deleted, and the conditions that report it.
 * Pure.
 */
import { conditionOf, formatTime } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import type { NamespaceCondition } from '@orch/types/core/v1';
import { type ConditionFacts, withoutCondition } from '../common/conditions.js';

export interface RemainingContent {
  /** `pods.` or `deployments.apps` -> object count. */
  readonly countByResource: ReadonlyMap<string, number>;
  readonly countByFinalizer: ReadonlyMap<string, number>;
}

export interface DeletionFindings {
  readonly discoveryErrors: readonly string[];
  readonly deletionErrors: readonly string[];
  readonly remaining: RemainingContent;
}

/** Counts objects and their finalizers. */
export function remainingContent(
  byResource: ReadonlyMap<string, readonly ApiObject[]>,
): RemainingContent {
  const countByResource = new Map<string, number>();
  const countByFinalizer = new Map<string, number>();
  for (const [resource, objects] of byResource) {
    if (objects.length > 0) countByResource.set(resource, objects.length);
    for (const finalizer of objects.flatMap((object) => object.metadata?.finalizers ?? [])) {
      countByFinalizer.set(finalizer, (countByFinalizer.get(finalizer) ?? 0) + 1);
    }
  }
  return { countByResource, countByFinalizer };
}

/** The longest grace period of the pods, in seconds; 0 without pods. */
export function podGraceSeconds(pods: readonly ApiObject[]): number {
  const running = pods.map((pod) => pod.metadata?.deletionGracePeriodSeconds ?? 30);
  return Math.max(0, ...running);
}

export function deletionConditions(
  conditions: readonly NamespaceCondition[],
  findings: DeletionFindings,
  nowMs: number,
): NamespaceCondition[] {
  return factsOf(findings).reduce<NamespaceCondition[]>(
    (all, facts) => {
      const existing = conditionOf(all, facts.type);
      const isUnchanged =
        existing?.status === facts.status &&
        existing.reason === facts.reason &&
        existing.message === facts.message;
      if (isUnchanged) return all;
      const hasStatus = existing?.status === facts.status;
      const since = (hasStatus && existing?.lastTransitionTime) || formatTime(nowMs);
      return [...withoutCondition(all, facts.type), { ...facts, lastTransitionTime: since }];
    },
    [...conditions],
  );
}

function factsOf(findings: DeletionFindings): ConditionFacts[] {
  const { discoveryErrors, deletionErrors, remaining } = findings;
  const resources = [...remaining.countByResource]
    .sort()
    .map(([name, count]) => `${name} has ${count} resource instances`)
    .join(', ');
  const finalizers = [...remaining.countByFinalizer]
    .sort()
    .map(([name, count]) => `${name} in ${count} resource instances`)
    .join(', ');
  return [
    fact('NamespaceDeletionDiscoveryFailure', discoveryErrors.join(', '), {
      bad: 'DiscoveryFailed',
      prefix: '',
      good: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    }),
    fact('NamespaceDeletionGroupVersionParsingFailure', '', {
      bad: 'GroupVersionParsingFailed',
      prefix: '',
      good: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    }),
    fact('NamespaceDeletionContentFailure', deletionErrors.join(', '), {
      bad: 'ContentDeletionFailed',
      prefix: '',
      good: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    }),
    fact('NamespaceContentRemaining', resources, {
      bad: 'SomeResourcesRemain',
      prefix: 'Some resources are remaining: ',
      good: 'ContentRemoved',
      message: 'All content successfully removed',
    }),
    fact('NamespaceFinalizersRemaining', finalizers, {
      bad: 'SomeFinalizersRemain',
      prefix: 'Some content in the namespace has finalizers remaining: ',
      good: 'ContentHasNoFinalizers',
      message: 'All content-preserving finalizers finished',
    }),
  ];
}

function fact(
  type: string,
  problem: string,
  texts: { bad: string; prefix: string; good: string; message: string },
): ConditionFacts {
  return problem === ''
    ? { type, status: 'False', reason: texts.good, message: texts.message }
    : { type, status: 'True', reason: texts.bad, message: `${texts.prefix}${problem}` };
}

/**
 * Quota usage of the objects of a kind: their number, and more for pods, services and claims. The
 * API server charges with it and the quota controller recalculates with it, so that both agree.
 * Pure.
 */
import type { ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import type { Amounts } from './amounts.js';

export interface QuotaObject {
  readonly metadata?: ObjectMeta;
}

/** `T`: the type of the objects that it evaluates. The kind of a resource selects its evaluator. */
export interface QuotaEvaluator<T extends QuotaObject = QuotaObject> {
  /** The names in a quota that objects of the kind count towards. */
  countedNames(names: readonly string[]): string[];
  /** `nowMs`: an object that has ended may use less. */
  usage(object: T, nowMs: number): Amounts;
  /** Resources that the object must specify in order to be counted, and does not. */
  missingResources(names: readonly string[], object: T): string[];
  matches(scope: ScopedResourceSelectorRequirement, object: T): boolean;
  /** An update may change the usage of the object. */
  readonly changesWithUpdates: boolean;
  /** Only the number of objects counts; their content is not needed. */
  readonly countsOnly: boolean;
}

/**
 * What objects of a kind count for in quotas: by their number, and pods, services and claims by more. The
 * API server charges with it and the quota controller recounts with it, so that both come to the same. Pure.
 */
import type { ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { type Amounts, one } from './amounts.js';
import { claimEvaluator } from './claims.js';
import { podEvaluator } from './pods.js';
import { serviceEvaluator } from './services.js';

export interface QuotaObject {
  readonly metadata?: ObjectMeta;
}

export interface QuotaEvaluator {
  /** Which of the names in a quota objects of the kind count for. */
  countedNames(names: readonly string[]): string[];
  /** `nowMs`: what is past its end may count for less. */
  usage(object: QuotaObject, nowMs: number): Amounts;
  /** Names of what the object must say to be counted, and does not. */
  unsaid(names: readonly string[], object: QuotaObject): string[];
  matches(scope: ScopedResourceSelectorRequirement, object: QuotaObject): boolean;
  /** A change of an object may count for more than the object did. */
  readonly changesWithUpdates: boolean;
  /** Only their number counts: nobody need look at the objects. */
  readonly countsOnly: boolean;
}

/** Group on the wire, empty for the core group, and plural. */
export interface CountedResource {
  readonly group: string;
  readonly resource: string;
}

/** The name of the number of objects of a resource. */
export function countName({ group, resource }: CountedResource): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

/** Numbers that had a name of their own before all had. */
const olderNames: ReadonlySet<string> = new Set([
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]);

function numberEvaluator(names: readonly string[]): QuotaEvaluator {
  const usage: Amounts = new Map(names.map((name) => [name, one]));
  return {
    countedNames: (all) => all.filter((name) => usage.has(name)),
    usage: () => usage,
    unsaid: () => [],
    matches: () => false,
    changesWithUpdates: false,
    countsOnly: true,
  };
}

const ofCore: Readonly<Record<string, QuotaEvaluator>> = {
  pods: podEvaluator,
  services: serviceEvaluator,
  persistentvolumeclaims: claimEvaluator,
};

/** `resources`: the names of one kind, which may be served in several groups. */
export function quotaEvaluator(resources: readonly CountedResource[]): QuotaEvaluator {
  const ofGroup = resources.find(({ group }) => group === '')?.resource ?? '';
  const special = Object.hasOwn(ofCore, ofGroup) ? ofCore[ofGroup] : undefined;
  if (special) return special;
  return numberEvaluator([
    ...resources.map(countName),
    ...(olderNames.has(ofGroup) ? [ofGroup] : []),
  ]);
}

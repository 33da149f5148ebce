/** Which resources a quota counts, and the status that a recount gives it. Pure. */
import {
  type CountedResource,
  countName,
  isInScopes,
  Quantity,
  type QuotaEvaluator,
  type QuotaObject,
  quotaEvaluator,
  quotaScopes,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { ResourceQuota, ResourceQuotaStatus } from '@orch/types/core/v1';

/** Counted by more than their number, and so under many names. */
export const measuredPlurals = ['pods', 'services', 'persistentvolumeclaims'] as const;
const countPrefix = 'count/';

const ofCore = (resource: string): CountedResource => ({ group: '', resource });

/** The resources of the names in quotas. Names of no resource are ignored. */
export function countedResources(names: readonly string[]): CountedResource[] {
  const found = new Map<string, CountedResource>();
  const add = (resource: CountedResource) => found.set(countName(resource), resource);
  for (const plural of measuredPlurals) {
    const resource = ofCore(plural);
    if (quotaEvaluator([resource]).countedNames(names).length > 0) add(resource);
  }
  for (const name of names) {
    if (name.startsWith(countPrefix)) {
      const [resource = '', ...group] = name.slice(countPrefix.length).split('.');
      add({ group: group.join('.'), resource });
    } else if (quotaEvaluator([ofCore(name)]).countedNames([name]).length > 0) add(ofCore(name));
  }
  return [...found.values()];
}

export function hardNames({ spec }: ResourceQuota): string[] {
  return Object.keys(spec?.hard ?? {});
}

/** What the objects of one resource use of the quota. */
export function usageOfObjects(
  quota: ResourceQuota,
  evaluator: QuotaEvaluator,
  objects: readonly QuotaObject[],
  nowMs: number,
): Record<string, string> {
  const covered = objects.filter((object) => isInScopes(quota, evaluator, object));
  const usages = covered.map((object) => evaluator.usage(object, nowMs));
  return Object.fromEntries(
    evaluator.countedNames(hardNames(quota)).map((name) => {
      const sum = usages.reduce(
        (total, usage) => total.add(usage.get(name) ?? Quantity.zero),
        Quantity.zero,
      );
      return [name, sum.toString()];
    }),
  );
}

/** What a number of objects uses, of which nothing but the number counts: no scope holds them. */
export function usageOfCount(
  quota: ResourceQuota,
  evaluator: QuotaEvaluator,
  objectCount: number,
): Record<string, string> {
  const counted = quotaScopes(quota).length > 0 ? 0 : objectCount;
  const names = evaluator.countedNames(hardNames(quota));
  return Object.fromEntries(names.map((name) => [name, String(counted)]));
}

/** Undefined when the quota has it already. */
export function recountedStatus(
  { spec, status }: ResourceQuota,
  used: Readonly<Record<string, string>>,
): ResourceQuotaStatus | undefined {
  const next: ResourceQuotaStatus = { hard: { ...spec?.hard }, used: { ...used } };
  const isSame =
    semanticallyEqual(status?.hard ?? {}, next.hard) &&
    semanticallyEqual(status?.used ?? {}, next.used);
  return isSame ? undefined : next;
}

/** Whether something is used less than the status says. */
export function isLower(
  before: ResourceQuotaStatus | undefined,
  used: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(before?.used ?? {}).some(
    ([name, amount]) => Quantity.parse(used[name] ?? '0').compare(Quantity.parse(amount)) < 0,
  );
}

/** Which resources a quota counts, and how a change adds to its usage. Pure. */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import {
  type Amounts,
  addAmounts,
  amountsOf,
  pickAmounts,
  resourceListOf,
  subtractAmounts,
} from './amounts.js';
import type { QuotaEvaluator, QuotaObject } from './evaluator.js';

/** The scopes that an object must match, all of them. */
export function quotaScopes({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
}

export function isInScopes(
  quota: ResourceQuota,
  evaluator: QuotaEvaluator,
  object: QuotaObject,
): boolean {
  return quotaScopes(quota).every((scope) => evaluator.matches(scope, object));
}

export interface QuotaChange {
  readonly object: QuotaObject;
  /** The previous object; undefined at creation. */
  readonly old: QuotaObject | undefined;
  readonly nowMs: number;
}

export interface QuotaCharge {
  readonly quota: ResourceQuota;
  /** What the change adds to the usage. */
  readonly added: Amounts;
  /** The usage including the change. */
  readonly used: Record<string, string>;
}

export type QuotaOutcome =
  | { readonly allowed: true; readonly charges: readonly QuotaCharge[] }
  /** The message, in upstream wording. */
  | { readonly allowed: false; readonly reason: string };

/**
 * Charges a change to the quotas of its namespace. The quota controller recalculates released
 * usage. A quota counts the resources in its status: one without a status counts nothing.
 */
export function chargeQuotas(
  quotas: readonly ResourceQuota[],
  evaluator: QuotaEvaluator,
  change: QuotaChange,
): QuotaOutcome {
  const covering = quotas.filter(
    (quota) =>
      countedBy(quota, evaluator).length > 0 && isInScopes(quota, evaluator, change.object),
  );
  for (const quota of covering) {
    const reason = uncountable(quota, evaluator, change.object);
    if (reason !== undefined) return { allowed: false, reason };
  }
  if (covering.length === 0) return { allowed: true, charges: [] };
  const added = addedUsage(evaluator, change);
  const charges: QuotaCharge[] = [];
  for (const quota of covering) {
    const requested = pickAmounts(added, Object.keys(quota.status?.hard ?? {}));
    if (requested.size === 0) continue;
    const used = amountsOf(quota.status?.used);
    const total = addAmounts(used, requested);
    const reason = exceeded(quota, requested, used, total);
    if (reason !== undefined) return { allowed: false, reason };
    charges.push({ quota, added: requested, used: resourceListOf(total) });
  }
  return { allowed: true, charges };
}

/** The usage of a quota without amounts that were charged to it. */
export function refundedUsage({ status }: ResourceQuota, added: Amounts): Record<string, string> {
  return resourceListOf(subtractAmounts(amountsOf(status?.used), added));
}

function countedBy({ status }: ResourceQuota, evaluator: QuotaEvaluator): string[] {
  return evaluator.countedNames(Object.keys(status?.hard ?? {}));
}

function uncountable(
  quota: ResourceQuota,
  evaluator: QuotaEvaluator,
  object: QuotaObject,
): string | undefined {
  const name = quota.metadata?.name ?? '';
  const counted = countedBy(quota, evaluator);
  const missingResources = evaluator.missingResources(counted, object);
  if (missingResources.length > 0)
    return `failed quota: ${name}: must specify ${missingResources.join(',')}`;
  const isKnown = counted.every((resource) => quota.status?.used?.[resource] !== undefined);
  return isKnown
    ? undefined
    : `status unknown for quota: ${name}, resources: ${counted.sort().join(',')}`;
}

/** The increase over the old object; omits resources without an increase. */
function addedUsage(evaluator: QuotaEvaluator, { object, old, nowMs }: QuotaChange): Amounts {
  const before: Amounts = old ? evaluator.usage(old, nowMs) : new Map();
  const added = [...evaluator.usage(object, nowMs)].map(
    ([name, amount]) => [name, amount.subtract(before.get(name) ?? Quantity.zero)] as const,
  );
  return new Map(added.filter(([, amount]) => amount.nanos > 0n));
}

function exceeded(
  { metadata, status }: ResourceQuota,
  requested: Amounts,
  used: Amounts,
  total: Amounts,
): string | undefined {
  const hard = amountsOf(status?.hard);
  const over = [...requested.keys()].filter(
    (name) => total.get(name)!.compare(hard.get(name)!) > 0,
  );
  if (over.length === 0) return undefined;
  const amountsText = (amounts: Amounts) =>
    [...over]
      .sort()
      .map((name) => `${name}=${amounts.get(name) ?? 0}`)
      .join(',');
  return `exceeded quota: ${metadata?.name}, requested: ${amountsText(requested)}, used: ${amountsText(used)}, limited: ${amountsText(hard)}`;
}

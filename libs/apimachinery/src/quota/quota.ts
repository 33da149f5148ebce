/** What a quota counts, and what an object adds to it. Pure. */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import { type Amounts, addAmounts, amountsOf, listOf, onlyNamed } from './amounts.js';
import type { QuotaEvaluator, QuotaObject } from './evaluator.js';

/** The scopes that an object must be in, all of them. */
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
  /** What it was before; undefined for a new one. */
  readonly old: QuotaObject | undefined;
  readonly nowMs: number;
}

export interface QuotaCharge {
  readonly quota: ResourceQuota;
  /** What is used with the change. */
  readonly used: Record<string, string>;
}

export type QuotaOutcome =
  | { readonly allowed: true; readonly charges: readonly QuotaCharge[] }
  /** In the words that clients know. */
  | { readonly allowed: false; readonly reason: string };

/**
 * What a change adds to the quotas of its namespace. What is given back is for the controller to recount.
 * Quotas count what their status says that they do: one that has no status yet counts nothing.
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
    const requested = onlyNamed(added, Object.keys(quota.status?.hard ?? {}));
    if (requested.size === 0) continue;
    const used = amountsOf(quota.status?.used);
    const total = addAmounts(used, requested);
    const reason = exceeded(quota, requested, used, total);
    if (reason !== undefined) return { allowed: false, reason };
    charges.push({ quota, used: listOf(total) });
  }
  return { allowed: true, charges };
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
  const unsaid = evaluator.unsaid(counted, object);
  if (unsaid.length > 0) return `failed quota: ${name}: must specify ${unsaid.join(',')}`;
  const isKnown = counted.every((one) => quota.status?.used?.[one] !== undefined);
  return isKnown
    ? undefined
    : `status unknown for quota: ${name}, resources: ${counted.sort().join(',')}`;
}

/** Beyond what the object used before; nothing that is zero. */
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
  const told = (amounts: Amounts) =>
    [...over]
      .sort()
      .map((name) => `${name}=${amounts.get(name) ?? 0}`)
      .join(',');
  return `exceeded quota: ${metadata?.name}, requested: ${told(requested)}, used: ${told(used)}, limited: ${told(hard)}`;
}

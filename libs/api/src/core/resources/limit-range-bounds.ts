/** Checks pods and claims against the bounds of a limit range, with upstream messages. Pure. */
import { Quantity } from '@orch/apimachinery';
import type { Container, LimitRangeItem, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';

type Amounts = ReadonlyMap<string, Quantity>;

interface RequestedAmounts {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

const none: Amounts = new Map();

function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  const entries = Object.entries(list ?? {});
  return new Map(entries.map(([name, text]) => [name, Quantity.parse(text)]));
}

function requestedOf({ resources }: Container): RequestedAmounts {
  return { requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) };
}

/**
 * The sum of the resources that every list specifies; a resource that one list lacks has no bound.
 */
function sumOfAll(lists: readonly Amounts[]): Map<string, Quantity> {
  const names = lists[0] ? [...lists[0].keys()] : [];
  const named = names.filter((name) => lists.every((list) => list.has(name)));
  return new Map(
    named.map((name) => [
      name,
      lists.reduce((sum, list) => sum.add(list.get(name)!), Quantity.zero),
    ]),
  );
}

/** Containers run together, init containers sequentially before them. */
function requestedOfPod(
  containers: readonly RequestedAmounts[],
  before: readonly RequestedAmounts[],
): RequestedAmounts {
  const total = (field: keyof RequestedAmounts) => {
    const sum = sumOfAll(containers.map((amounts) => amounts[field]));
    for (const amounts of before) {
      for (const [name, amount] of amounts[field]) {
        const held = sum.get(name);
        if (!held || amount.compare(held) > 0) sum.set(name, amount);
      }
    }
    return sum;
  };
  return { requests: total('requests'), limits: total('limits') };
}

/** Empty if the pod is within the bounds; messages may repeat. */
export function podProblems({ spec }: Pod, items: readonly LimitRangeItem[]): string[] {
  const containers = (spec?.containers ?? []).map(requestedOf);
  const before = (spec?.initContainers ?? []).map(requestedOf);
  return items.flatMap((item) => {
    if (item.type === 'Container') {
      return [...containers, ...before].flatMap((requested) => problemsOf(item, requested));
    }
    return item.type === 'Pod' ? problemsOf(item, requestedOfPod(containers, before)) : [];
  });
}

export function claimProblems(
  { spec }: PersistentVolumeClaim,
  items: readonly LimitRangeItem[],
): string[] {
  const requested: RequestedAmounts = {
    requests: amountsOf(spec?.resources?.requests),
    limits: none,
  };
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...eachBound(item.min, (name, bound) => below(item.type, name, bound, requested)),
      ...eachBound(item.max, (name, bound) => requestAbove(item.type, name, bound, requested)),
    ]);
}

function problemsOf(item: LimitRangeItem, requested: RequestedAmounts): string[] {
  const { type, min, max, maxLimitRequestRatio } = item;
  return [
    ...eachBound(min, (name, bound) => below(type, name, bound, requested)),
    ...eachBound(max, (name, bound) => above(type, name, bound, requested)),
    ...eachBound(maxLimitRequestRatio, (name, bound) => ratioAbove(type, name, bound, requested)),
  ];
}

function eachBound(
  bounds: Readonly<Record<string, string>> | undefined,
  check: (name: string, bound: Quantity) => string | undefined,
): string[] {
  return Object.keys(bounds ?? {})
    .sort()
    .flatMap((name) => check(name, Quantity.parse(bounds![name]!)) ?? []);
}

function below(
  type: string,
  name: string,
  bound: Quantity,
  requested: RequestedAmounts,
): string | undefined {
  const request = requested.requests.get(name);
  const limit = requested.limits.get(name);
  const rule = `minimum ${name} usage per ${type} is ${bound}`;
  if (!request) return `${rule}.  No request is specified`;
  if (request.compare(bound) < 0) return `${rule}, but request is ${request}`;
  if (limit && limit.compare(bound) < 0) return `${rule}, but limit is ${limit}`;
  return undefined;
}

function above(
  type: string,
  name: string,
  bound: Quantity,
  requested: RequestedAmounts,
): string | undefined {
  const request = requested.requests.get(name);
  const limit = requested.limits.get(name);
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (!limit) return `${rule}.  No limit is specified`;
  if (limit.compare(bound) > 0) return `${rule}, but limit is ${limit}`;
  if (request && request.compare(bound) > 0) return `${rule}, but request is ${request}`;
  return undefined;
}

/** Claims have requests only. */
function requestAbove(
  type: string,
  name: string,
  bound: Quantity,
  { requests }: RequestedAmounts,
): string | undefined {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (!request) return `${rule}.  No request is specified`;
  return request.compare(bound) > 0 ? `${rule}, but request is ${request}` : undefined;
}

function ratioAbove(
  type: string,
  name: string,
  bound: Quantity,
  requested: RequestedAmounts,
): string | undefined {
  const request = requested.requests.get(name);
  const limit = requested.limits.get(name);
  const rule = `${name} max limit to request ratio per ${type} is ${bound}`;
  if (!request || request.isZero) return `${rule}, but no request is specified or request is 0`;
  if (!limit || limit.isZero) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = limit.toNumber() / request.toNumber();
  return ratio > bound.toNumber()
    ? `${rule}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined;
}

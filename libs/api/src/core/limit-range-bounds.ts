/** What in a pod or a claim is outside the bounds of a limit range, in the known words. Pure. */
import { Quantity } from '@orch/apimachinery';
import type { Container, LimitRangeItem, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';

type Amounts = ReadonlyMap<string, Quantity>;

interface Asked {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

const none: Amounts = new Map();

function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  const entries = Object.entries(list ?? {});
  return new Map(entries.map(([name, text]) => [name, Quantity.parse(text)]));
}

function askedOf({ resources }: Container): Asked {
  return { requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) };
}

/** What all of them name, in all: one that does not say could take anything. */
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

/** Containers run together, those that prepare the pod one by one before. */
function askedOfPod(containers: readonly Asked[], before: readonly Asked[]): Asked {
  const total = (field: keyof Asked) => {
    const sum = sumOfAll(containers.map((asked) => asked[field]));
    for (const asked of before) {
      for (const [name, amount] of asked[field]) {
        const held = sum.get(name);
        if (!held || amount.compare(held) > 0) sum.set(name, amount);
      }
    }
    return sum;
  };
  return { requests: total('requests'), limits: total('limits') };
}

/** Empty when the pod is within the bounds; several messages may be the same. */
export function podProblems({ spec }: Pod, items: readonly LimitRangeItem[]): string[] {
  const containers = (spec?.containers ?? []).map(askedOf);
  const before = (spec?.initContainers ?? []).map(askedOf);
  return items.flatMap((item) => {
    if (item.type === 'Container') {
      return [...containers, ...before].flatMap((asked) => problemsOf(item, asked));
    }
    return item.type === 'Pod' ? problemsOf(item, askedOfPod(containers, before)) : [];
  });
}

export function claimProblems(
  { spec }: PersistentVolumeClaim,
  items: readonly LimitRangeItem[],
): string[] {
  const asked: Asked = { requests: amountsOf(spec?.resources?.requests), limits: none };
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...eachBound(item.min, (name, bound) => below(item.type, name, bound, asked)),
      ...eachBound(item.max, (name, bound) => requestAbove(item.type, name, bound, asked)),
    ]);
}

function problemsOf(item: LimitRangeItem, asked: Asked): string[] {
  const { type, min, max, maxLimitRequestRatio } = item;
  return [
    ...eachBound(min, (name, bound) => below(type, name, bound, asked)),
    ...eachBound(max, (name, bound) => above(type, name, bound, asked)),
    ...eachBound(maxLimitRequestRatio, (name, bound) => ratioAbove(type, name, bound, asked)),
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

function below(type: string, name: string, bound: Quantity, asked: Asked): string | undefined {
  const request = asked.requests.get(name);
  const limit = asked.limits.get(name);
  const rule = `minimum ${name} usage per ${type} is ${bound}`;
  if (!request) return `${rule}.  No request is specified`;
  if (request.compare(bound) < 0) return `${rule}, but request is ${request}`;
  if (limit && limit.compare(bound) < 0) return `${rule}, but limit is ${limit}`;
  return undefined;
}

function above(type: string, name: string, bound: Quantity, asked: Asked): string | undefined {
  const request = asked.requests.get(name);
  const limit = asked.limits.get(name);
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
  { requests }: Asked,
): string | undefined {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  if (!request) return `${rule}.  No request is specified`;
  return request.compare(bound) > 0 ? `${rule}, but request is ${request}` : undefined;
}

function ratioAbove(type: string, name: string, bound: Quantity, asked: Asked): string | undefined {
  const request = asked.requests.get(name);
  const limit = asked.limits.get(name);
  const rule = `${name} max limit to request ratio per ${type} is ${bound}`;
  if (!request || request.isZero) return `${rule}, but no request is specified or request is 0`;
  if (!limit || limit.isZero) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = limit.toNumber() / request.toNumber();
  return ratio > bound.toNumber()
    ? `${rule}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined;
}

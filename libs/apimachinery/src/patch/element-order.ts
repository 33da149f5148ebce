/**
 * Orders the elements of a merged list. Elements in the patch follow the patch's order, the others
 * the server's. When the two sequences are merged, the server's order decides between elements that
 * the server had, and a new element of the patch precedes others.
 */
import type { Json } from './json-values.js';

/** Identity of an element: the scalar itself or the value of its merge key. */
export type Identity = (element: Json) => string;

export function orderElements(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  serverOrder: readonly Json[],
  identity: Identity,
): Json[] {
  const patchRank = ranks(patchOrder, identity);
  const serverRank = ranks(serverOrder, identity);
  const named = merged.filter((element) => patchRank.has(identity(element)));
  const others = merged.filter((element) => !patchRank.has(identity(element)));
  const byRank = (rank: ReadonlyMap<string, number>) => (a: Json, b: Json) =>
    (rank.get(identity(a)) ?? 0) - (rank.get(identity(b)) ?? 0);
  named.sort(byRank(patchRank));
  others.sort(byRank(serverRank));
  return interleave(named, others, (element) => serverRank.get(identity(element)));
}

function ranks(list: readonly Json[], identity: Identity): Map<string, number> {
  const rank = new Map<string, number>();
  for (const [index, element] of list.entries()) {
    const id = identity(element);
    if (!rank.has(id)) rank.set(id, index);
  }
  return rank;
}

function interleave(
  named: readonly Json[],
  others: readonly Json[],
  serverRank: (element: Json) => number | undefined,
): Json[] {
  const ordered: Json[] = [];
  let namedIndex = 0;
  let otherIndex = 0;
  while (namedIndex < named.length && otherIndex < others.length) {
    const namedElement = named[namedIndex] ?? null;
    const otherElement = others[otherIndex] ?? null;
    if ((serverRank(namedElement) ?? -1) < (serverRank(otherElement) ?? -1)) {
      ordered.push(namedElement);
      namedIndex += 1;
    } else {
      ordered.push(otherElement);
      otherIndex += 1;
    }
  }
  return [...ordered, ...named.slice(namedIndex), ...others.slice(otherIndex)];
}

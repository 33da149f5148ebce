/**
 * Truncates the subsets of an Endpoints object to the most addresses that clients can handle. Ready
 * addresses come first; each subset retains its share. Pure.
 */
import type { EndpointSubset } from '@orch/types/core/v1';

type List = 'addresses' | 'notReadyAddresses';

/** @returns `subsets` itself if it has at most `countMax` addresses. */
export function truncateSubsets(
  subsets: readonly EndpointSubset[],
  countMax: number,
): readonly EndpointSubset[] {
  const readyCount = countOf(subsets, 'addresses');
  const notReadyCount = countOf(subsets, 'notReadyAddresses');
  if (readyCount + notReadyCount <= countMax) return subsets;
  const truncated =
    readyCount >= countMax
      ? shareOut(subsets.map(withoutNotReady), 'addresses', readyCount, countMax)
      : shareOut(subsets, 'notReadyAddresses', notReadyCount, countMax - readyCount);
  return truncated.filter((subset) => subset.addresses || subset.notReadyAddresses);
}

function shareOut(
  subsets: readonly EndpointSubset[],
  list: List,
  total: number,
  countMax: number,
): EndpointSubset[] {
  let remaining = countMax;
  return subsets.map((subset) => {
    const { [list]: all = [], ...rest } = subset;
    const share = Math.min(Math.ceil((all.length / total) * countMax), remaining);
    remaining -= share;
    return share > 0 ? { ...rest, [list]: all.slice(0, share) } : rest;
  });
}

function withoutNotReady({ notReadyAddresses: _notReady, ...subset }: EndpointSubset) {
  return subset;
}

function countOf(subsets: readonly EndpointSubset[], list: List): number {
  return subsets.reduce((count, subset) => count + (subset[list]?.length ?? 0), 0);
}

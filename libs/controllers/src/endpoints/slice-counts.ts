/** How many endpoints and slices planned changes concern, for metrics. Pure. */
import { semanticallyEqual } from '@orch/apimachinery';
import type { Endpoint, EndpointSlice } from '@orch/types/discovery/v1';
import { endpointKey, groupKey, type SliceChanges, withoutVersion } from './slices.js';

export interface EndpointChangeCounts {
  readonly addedCount: number;
  /** Endpoints that stay, with other content than the version of the object behind them. */
  readonly updatedCount: number;
  readonly removedCount: number;
}

export interface SliceCounts {
  readonly endpointCount: number;
  readonly sliceCount: number;
  /** The smallest number of slices that could hold the endpoints. */
  readonly neededSliceCount: number;
}

/** An endpoint that moves to another slice does not count; with other ports it is another one. */
export function countEndpointChanges(
  existing: readonly EndpointSlice[],
  changes: SliceChanges,
): EndpointChangeCounts {
  const replaced = namesOf([...changes.updates, ...changes.deletes]);
  const before = endpointsByKey(existing.filter(({ metadata }) => replaced.has(metadata?.name)));
  const after = endpointsByKey([...changes.updates, ...changes.creates]);
  let addedCount = 0;
  let updatedCount = 0;
  for (const [key, endpoint] of after) {
    const old = before.get(key);
    if (!old) addedCount++;
    else if (!semanticallyEqual(withoutVersion(old), withoutVersion(endpoint))) updatedCount++;
  }
  return { addedCount, updatedCount, removedCount: before.size + addedCount - after.size };
}

/** Counts the slices of an owner as they are after `changes`. */
export function countSlices(
  existing: readonly EndpointSlice[],
  { creates, updates, deletes }: SliceChanges,
  endpointCountMax: number,
): SliceCounts {
  const replaced = namesOf([...updates, ...deletes]);
  const unchanged = existing.filter(({ metadata }) => !replaced.has(metadata?.name));
  const slices = [...unchanged, ...updates, ...creates];
  const endpointCounts = new Map<string, number>();
  for (const { addressType, ports, endpoints = [] } of slices) {
    const key = groupKey(addressType, ports);
    endpointCounts.set(key, (endpointCounts.get(key) ?? 0) + endpoints.length);
  }
  let endpointCount = 0;
  let neededSliceCount = 0;
  for (const count of endpointCounts.values()) {
    endpointCount += count;
    neededSliceCount += Math.max(1, Math.ceil(count / endpointCountMax));
  }
  return { endpointCount, sliceCount: slices.length, neededSliceCount };
}

function namesOf(slices: readonly EndpointSlice[]): Set<string | undefined> {
  return new Set(slices.map(({ metadata }) => metadata?.name));
}

function endpointsByKey(slices: readonly EndpointSlice[]): Map<string, Endpoint> {
  return new Map(
    slices.flatMap(({ addressType, ports, endpoints = [] }) => {
      const group = groupKey(addressType, ports);
      return endpoints.map((endpoint) => [`${group}|${endpointKey(endpoint)}`, endpoint] as const);
    }),
  );
}

/** Finding the slices of a service in the cache. */
import type { Indexer, Informer } from '@orch/client';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import { mirrorManager, ownerKeyOf, sliceManager } from './slices.js';

const ownerIndex = 'endpointSliceOwner';

const owners: Indexer<EndpointSlice> = (slice) =>
  [sliceManager(), mirrorManager()].flatMap((manager) =>
    ownerKeyOf(slice, manager).map((key) => `${manager} ${key}`),
  );

export function indexByOwner(slices: Informer<EndpointSlice>): void {
  slices.addIndex(ownerIndex, owners);
}

/** The slices of the owner with `key` that `manager` manages and that are not being deleted. */
export function slicesOf(
  slices: Informer<EndpointSlice>,
  key: string,
  manager: string,
): EndpointSlice[] {
  return slices.lister
    .byIndex(ownerIndex, `${manager} ${key}`)
    .filter(({ metadata }) => !metadata?.deletionTimestamp);
}

/**
 * Distributes the endpoints of one group over slices with as few writes as possible. Endpoints stay
 * in their slices; new ones fill slices that are written anyway, then the fullest slice with room
 * for all the rest, then new slices. Slices are not merged when they become sparse. Pure.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import type { Endpoint, EndpointSlice } from '@orch/types/discovery/v1';
import { endpointKey, withoutVersion } from './slices.js';

export interface PackingOptions {
  readonly endpointCountMax: number;
  /** Whether a slice is written even if its endpoints do not change. */
  readonly isOutdated: (slice: EndpointSlice) => boolean;
}

export interface Packing {
  /** The endpoints of each new slice. */
  readonly creates: readonly (readonly Endpoint[])[];
  readonly updates: readonly { slice: EndpointSlice; endpoints: readonly Endpoint[] }[];
  readonly deletes: readonly EndpointSlice[];
}

interface Bin {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

export function packEndpoints(
  existing: readonly EndpointSlice[],
  desired: readonly Endpoint[],
  { endpointCountMax, isOutdated }: PackingOptions,
): Packing {
  const remaining = new Map(desired.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const bins = existing.map((slice) => retain(slice, remaining, isOutdated(slice)));
  const isEmptied = ({ slice, endpoints, isChanged }: Bin) =>
    isChanged && endpoints.length === 0 && (slice.endpoints ?? []).length > 0;
  const retained = bins.filter((bin) => !isEmptied(bin));
  const changed = retained.filter(({ isChanged }) => isChanged);
  for (const bin of changed.sort((a, b) => b.endpoints.length - a.endpoints.length)) {
    fill(bin.endpoints, remaining, endpointCountMax);
  }
  const creates: Endpoint[][] = [];
  while (remaining.size > 0) {
    const bin = bestFit(retained, remaining.size, endpointCountMax);
    if (bin) bin.isChanged = true;
    const endpoints = bin?.endpoints ?? [];
    if (!bin) creates.push(endpoints);
    fill(endpoints, remaining, endpointCountMax);
  }
  return {
    creates,
    updates: retained.filter(({ isChanged }) => isChanged),
    deletes: bins.filter(isEmptied).map(({ slice }) => slice),
  };
}

/** The desired endpoints of a slice, which leave `remaining`. */
function retain(slice: EndpointSlice, remaining: Map<string, Endpoint>, isOutdated: boolean): Bin {
  const endpoints: Endpoint[] = [];
  let isChanged = isOutdated;
  for (const old of slice.endpoints ?? []) {
    const key = endpointKey(old);
    const wanted = remaining.get(key);
    isChanged ||= !wanted || !semanticallyEqual(withoutVersion(wanted), withoutVersion(old));
    if (wanted) endpoints.push(wanted);
    remaining.delete(key);
  }
  return { slice, endpoints, isChanged };
}

function fill(endpoints: Endpoint[], remaining: Map<string, Endpoint>, countMax: number): void {
  for (const [key, endpoint] of remaining) {
    if (endpoints.length >= countMax) return;
    endpoints.push(endpoint);
    remaining.delete(key);
  }
}

/** The fullest unchanged slice with room for `count` more endpoints. */
function bestFit(bins: readonly Bin[], count: number, countMax: number): Bin | undefined {
  return bins
    .filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + count <= countMax)
    .reduce<Bin | undefined>(
      (best, bin) => (best && best.endpoints.length >= bin.endpoints.length ? best : bin),
      undefined,
    );
}

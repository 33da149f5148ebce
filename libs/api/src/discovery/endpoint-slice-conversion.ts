/**
 * Converts EndpointSlice between its two shapes. The stored one, v1beta1, holds zone and node in a
 * topology map; in v1 they are fields, and the rest of the map is deprecated. Lossless in both
 * directions.
 */
import { dialect } from '@orch/component';
import type { Endpoint, EndpointSlice } from '@orch/types/discovery/v1';
import type {
  Endpoint as StoredEndpoint,
  EndpointSlice as StoredSlice,
} from '@orch/types/discovery/v1beta1';

const zoneKey = () => dialect().key('zone', 'topology');
const hostKey = () => dialect().key('hostname');

export function sliceToStored({ endpoints, ...same }: EndpointSlice): StoredSlice {
  return { ...same, ...(endpoints && { endpoints: endpoints.map(endpointToStored) }) };
}

export function sliceFromStored({ endpoints, ...same }: StoredSlice): EndpointSlice {
  return { ...same, ...(endpoints && { endpoints: endpoints.map(endpointFromStored) }) };
}

function endpointToStored({ zone, deprecatedTopology, ...same }: Endpoint): StoredEndpoint {
  const topology = { ...deprecatedTopology };
  if (zone !== undefined) topology[zoneKey()] = zone;
  if (same.nodeName !== undefined) topology[hostKey()] ??= same.nodeName;
  return { ...same, ...(Object.keys(topology).length > 0 && { topology }) };
}

function endpointFromStored({ topology, ...same }: StoredEndpoint): Endpoint {
  const { [zoneKey()]: zone, ...rest } = topology ?? {};
  // Stays if it differs; only the older version can set such a value.
  if (rest[hostKey()] === same.nodeName) delete rest[hostKey()];
  return {
    ...same,
    ...(zone !== undefined && { zone }),
    ...(Object.keys(rest).length > 0 && { deprecatedTopology: rest }),
  };
}

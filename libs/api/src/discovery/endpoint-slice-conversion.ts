/**
 * EndpointSlice between its two shapes. The stored one, v1beta1, holds zone and node in a map of topology;
 * in v1 they are fields, and what else the map holds is deprecated. Both ways without loss.
 */
import { dialect } from '@orch/component';
import type { Endpoint, EndpointSlice } from '@orch/types/discovery/v1';
import type {
  Endpoint as StoredEndpoint,
  EndpointSlice as StoredSlice,
} from '@orch/types/discovery/v1beta1';
import type { ApiObject } from '../definition.js';

const zoneKey = () => dialect().key('zone', 'topology');
const hostKey = () => dialect().key('hostname');

export function sliceToStored(object: ApiObject): StoredSlice {
  const { endpoints, ...same } = object as EndpointSlice;
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
  // Kept where it differs, which only the older version can tell.
  if (rest[hostKey()] === same.nodeName) delete rest[hostKey()];
  return {
    ...same,
    ...(zone !== undefined && { zone }),
    ...(Object.keys(rest).length > 0 && { deprecatedTopology: rest }),
  };
}

/** Names and parts that the slices of services and mirrored slices share. Pure. */
import { controllerReference } from '@orch/apimachinery';
import { keyOf } from '@orch/client';
import { dialect } from '@orch/component';
import type { Endpoints, Service } from '@orch/types/core/v1';
import type { AddressType, Endpoint, EndpointPort, EndpointSlice } from '@orch/types/discovery/v1';

const namePrefixCharsMax = 253;

export const serviceNameLabel = () => dialect().key('service-name');
export const managedByLabel = () => dialect().key('managed-by', 'endpointslice');

/** The values of the label that names the controller of a slice. */
export const sliceManager = () => `endpointslice-controller.${dialect().groupDomain}`;
export const mirrorManager = () => `endpointslicemirroring-controller.${dialect().groupDomain}`;

/** Endpoints with the same ports, which share slices. */
export interface EndpointGroup {
  readonly addressType: AddressType;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** Slices to write. New slices have no name; updated slices have the version that was read. */
export interface SliceChanges {
  readonly creates: readonly EndpointSlice[];
  readonly updates: readonly EndpointSlice[];
  readonly deletes: readonly EndpointSlice[];
}

/** The key of the service, and of its Endpoints, if `manager` manages the slice. */
export function ownerKeyOf({ metadata }: EndpointSlice, manager: string): string[] {
  const name = metadata?.labels?.[serviceNameLabel()];
  if (!name || metadata?.labels?.[managedByLabel()] !== manager) return [];
  return [keyOf(metadata.namespace ?? '', name)];
}

/** A key that is equal for slices whose endpoints have the same ports, in any order. */
export function groupKey(addressType: AddressType, ports: readonly EndpointPort[] = []): string {
  const texts = ports.map(({ name = '', protocol = 'TCP', port, appProtocol }) =>
    JSON.stringify([name, protocol, port ?? null, appProtocol ?? null]),
  );
  return [addressType, ...texts.sort()].join('|');
}

/** A slice without endpoints, which `owner` controls. */
export function newSlice(
  owner: Service | Endpoints,
  kind: 'Service' | 'Endpoints',
  { addressType, ports }: EndpointGroup,
): EndpointSlice {
  const { name = '', namespace = '' } = owner.metadata ?? {};
  return {
    metadata: {
      generateName: name.length < namePrefixCharsMax ? `${name}-` : name,
      namespace,
      ownerReferences: [controllerReference({ ...owner, apiVersion: 'v1', kind })],
    },
    addressType,
    endpoints: [],
    ports: [...ports],
  };
}

/**
 * Replaces creations by updates of slices that would be deleted, so that fewer objects change.
 * Slices that `isOwned` rejects belong to a deleted owner and are not reused.
 */
export function recycle(
  { creates, updates, deletes }: SliceChanges,
  isOwned: (slice: EndpointSlice) => boolean,
): SliceChanges {
  const remaining = [...deletes];
  const created: EndpointSlice[] = [];
  const updated = [...updates];
  for (const slice of creates) {
    const index = remaining.findIndex(
      (old) => old.addressType === slice.addressType && isOwned(old),
    );
    const [old] = index < 0 ? [] : remaining.splice(index, 1);
    if (old) updated.push({ ...slice, metadata: { ...old.metadata, ...slice.metadata } });
    else created.push(slice);
  }
  return { creates: created, updates: updated, deletes: remaining };
}

/** The endpoint without the version of the object behind it, which alone causes no write. */
export function withoutVersion(endpoint: Endpoint): Endpoint {
  if (!endpoint.targetRef) return endpoint;
  const { resourceVersion: _version, ...targetRef } = endpoint.targetRef;
  return { ...endpoint, targetRef };
}

/** The identity of an endpoint: another state of it is an update, not a replacement. */
export function endpointKey({ addresses, hostname, nodeName, targetRef }: Endpoint): string {
  const { namespace, name, uid } = targetRef ?? {};
  return JSON.stringify([[...(addresses ?? [])].sort(), hostname, nodeName, namespace, name, uid]);
}

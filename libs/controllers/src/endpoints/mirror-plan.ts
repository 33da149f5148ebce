/**
 * The changes that mirror an Endpoints object, which a user writes for a service without a
 * selector, to endpoint slices: one slice for each subset and address type. Pure.
 */
import { isIp, semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { EndpointAddress, EndpointSubset, Endpoints } from '@orch/types/core/v1';
import type { Endpoint, EndpointPort, EndpointSlice } from '@orch/types/discovery/v1';
import { triggerTimeKey } from './service-pods.js';
import {
  type EndpointGroup,
  endpointKey,
  groupKey,
  managedByLabel,
  mirrorManager,
  newSlice,
  recycle,
  type SliceChanges,
  serviceNameLabel,
  withoutVersion,
} from './slices.js';

export interface MirrorPlan extends SliceChanges {
  /** Addresses that are not IP addresses. */
  readonly invalidCount: number;
  /** Addresses that are not mirrored, invalid ones included. */
  readonly skippedCount: number;
}

type MutableGroup = EndpointGroup & { readonly endpoints: Endpoint[] };

export function planMirror(
  endpoints: Endpoints,
  existing: readonly EndpointSlice[],
  addressCountMax: number,
): MirrorPlan {
  const groups = new Map<string, MutableGroup>();
  let invalidCount = 0;
  let skippedCount = 0;
  for (const subset of endpoints.subsets ?? []) {
    const addresses = endpointsOf(subset);
    const valid = addresses.filter(({ addresses: [ip = ''] = [] }) => isIp(ip));
    const mirrored = valid.slice(0, addressCountMax);
    invalidCount += addresses.length - valid.length;
    skippedCount += addresses.length - mirrored.length;
    addToGroups(groups, portsOf(subset), mirrored);
  }
  const creates: EndpointSlice[] = [];
  const updates: EndpointSlice[] = [];
  const deletes: EndpointSlice[] = [];
  const slices = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, slice.ports);
    slices.set(key, [...(slices.get(key) ?? []), slice]);
  }
  for (const [key, group] of groups) {
    const [first, ...surplus] = slices.get(key) ?? [];
    slices.delete(key);
    deletes.push(...surplus);
    const desired = mirrorSlice(endpoints, group, addressCountMax);
    if (!first) creates.push(desired);
    else if (!isMirror(first, desired)) {
      updates.push({ ...desired, metadata: { ...first.metadata, ...desired.metadata } });
    }
  }
  deletes.push(...[...slices.values()].flat());
  const isDeleting = Boolean(endpoints.metadata?.deletionTimestamp);
  const changes = recycle({ creates: isDeleting ? [] : creates, updates, deletes }, () => true);
  return { ...changes, invalidCount, skippedCount };
}

function endpointsOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): Endpoint[] {
  return [
    ...addresses.map((address) => endpointOf(address, true)),
    ...notReadyAddresses.map((address) => endpointOf(address, false)),
  ];
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean) {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef ? { targetRef } : {}),
    ...(nodeName ? { nodeName } : {}),
  } satisfies Endpoint;
}

function portsOf({ ports = [] }: EndpointSubset): EndpointPort[] {
  return ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol ? { appProtocol } : {}),
  }));
}

function addToGroups(
  groups: Map<string, MutableGroup>,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
): void {
  for (const endpoint of endpoints) {
    const addressType = endpoint.addresses?.[0]?.includes(':') ? 'IPv6' : 'IPv4';
    const key = groupKey(addressType, ports);
    const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
    group.endpoints.push(endpoint);
    groups.set(key, group);
  }
}

/** Subsets with equal ports share a slice. */
function mirrorSlice(
  owner: Endpoints,
  group: EndpointGroup,
  addressCountMax: number,
): EndpointSlice {
  const slice = newSlice(owner, 'Endpoints', group);
  const unique = new Map(group.endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const {
    [triggerTimeKey()]: _trigger,
    [dialect().key('last-applied-configuration', 'kubectl')]: _applied,
    ...annotations
  } = owner.metadata?.annotations ?? {};
  const labels = {
    ...owner.metadata?.labels,
    [serviceNameLabel()]: owner.metadata?.name ?? '',
    [managedByLabel()]: mirrorManager(),
  };
  return {
    ...slice,
    metadata: { ...slice.metadata, labels, annotations },
    endpoints: [...unique.values()].slice(0, addressCountMax),
  };
}

function isMirror(slice: EndpointSlice, desired: EndpointSlice): boolean {
  return (
    semanticallyEqual(slice.metadata?.labels ?? {}, desired.metadata?.labels ?? {}) &&
    semanticallyEqual(slice.metadata?.annotations ?? {}, desired.metadata?.annotations ?? {}) &&
    semanticallyEqual(contentOf(slice), contentOf(desired))
  );
}

function contentOf({ endpoints = [] }: EndpointSlice): Endpoint[] {
  return endpoints.map(withoutVersion);
}

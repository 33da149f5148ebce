/** The changes that bring the endpoint slices of a service up to date. Pure. */
import { formatTime, semanticallyEqual } from '@orch/apimachinery';
import type { Pod, Service } from '@orch/types/core/v1';
import type { AddressType, EndpointSlice } from '@orch/types/discovery/v1';
import { hasServiceAddress, headlessLabel, triggerTimeKey } from './service-pods.js';
import { addressTypesOf, groupsOf, isListed, type ZoneOf } from './slice-endpoints.js';
import { packEndpoints } from './slice-packing.js';
import {
  groupKey,
  managedByLabel,
  newSlice,
  recycle,
  type SliceChanges,
  serviceNameLabel,
  sliceManager,
} from './slices.js';

export interface SlicePlanInput {
  readonly service: Service;
  /** The pods that the service selects. */
  readonly pods: readonly Pod[];
  readonly existing: readonly EndpointSlice[];
  readonly zoneOf: ZoneOf;
  readonly endpointCountMax: number;
  /** When the change happened that leads to this plan; undefined if that is unknown. */
  readonly triggerMs: number | undefined;
}

/** A service without endpoints has one empty slice for each address type. */
export function planSlices(input: SlicePlanInput): SliceChanges {
  const { service, existing, triggerMs } = input;
  const isOwned = ({ metadata }: EndpointSlice) =>
    (metadata?.ownerReferences ?? []).some(({ uid }) => uid === service.metadata?.uid);
  const types = addressTypesOf(service);
  const listed = input.pods.filter((pod) => isListed(service, pod));
  const isUsable = (slice: EndpointSlice) => types.includes(slice.addressType) && isOwned(slice);
  const changes = types.map((type) => {
    const slices = existing.filter((slice) => isUsable(slice) && slice.addressType === type);
    return planType({ ...input, pods: listed, existing: slices }, type);
  });
  const unusable = existing.filter((slice) => !isUsable(slice));
  const plan = recycle(
    {
      creates: changes.flatMap(({ creates }) => creates),
      updates: changes.flatMap(({ updates }) => updates),
      deletes: [...unusable, ...changes.flatMap(({ deletes }) => deletes)],
    },
    isOwned,
  );
  const isDeleting = Boolean(service.metadata?.deletionTimestamp);
  return {
    creates: isDeleting ? [] : plan.creates.map((slice) => withTrigger(slice, triggerMs)),
    updates: plan.updates.map((slice) => withTrigger(slice, triggerMs)),
    deletes: plan.deletes,
  };
}

function planType(input: SlicePlanInput, addressType: AddressType): SliceChanges {
  const { service, existing, endpointCountMax } = input;
  const labels = labelsOf(service);
  const isOutdated = ({ metadata }: EndpointSlice) =>
    !semanticallyEqual(metadata?.labels ?? {}, labels);
  const labelled = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    metadata: { ...slice.metadata, labels },
  });
  const groups = groupsOf(service, input.pods, addressType, input.zoneOf);
  const keyed = existing.map((slice) => ({ slice, key: groupKey(addressType, slice.ports) }));
  const creates: EndpointSlice[] = [];
  const updates: EndpointSlice[] = [];
  const deletes = keyed.filter(({ key }) => !groups.has(key)).map(({ slice }) => slice);
  for (const [key, group] of groups) {
    const slices = keyed.filter((one) => one.key === key).map(({ slice }) => slice);
    const packing = packEndpoints(slices, group.endpoints, { endpointCountMax, isOutdated });
    for (const endpoints of packing.creates) {
      creates.push(labelled({ ...newSlice(service, 'Service', group), endpoints: [...endpoints] }));
    }
    for (const { slice, endpoints } of packing.updates) {
      updates.push(labelled({ ...slice, endpoints: [...endpoints] }));
    }
    deletes.push(...packing.deletes);
  }
  if (groups.size > 0) return { creates, updates, deletes };
  const placeholder = deletes.find((slice) => isPlaceholder(slice) && !isOutdated(slice));
  if (placeholder) {
    return { creates, updates, deletes: deletes.filter((slice) => slice !== placeholder) };
  }
  const empty = newSlice(service, 'Service', { addressType, ports: [], endpoints: [] });
  return { creates: [labelled(empty)], updates, deletes };
}

function isPlaceholder({ endpoints, ports }: EndpointSlice): boolean {
  return (endpoints ?? []).length === 0 && (ports ?? []).length === 0;
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel()]: _headless, ...labels } = service.metadata?.labels ?? {};
  return {
    ...labels,
    ...(hasServiceAddress(service) ? {} : { [headlessLabel()]: '' }),
    [serviceNameLabel()]: service.metadata?.name ?? '',
    [managedByLabel()]: sliceManager(),
  };
}

function withTrigger(slice: EndpointSlice, triggerMs: number | undefined): EndpointSlice {
  const { [triggerTimeKey()]: _trigger, ...others } = slice.metadata?.annotations ?? {};
  const annotations =
    triggerMs === undefined ? others : { ...others, [triggerTimeKey()]: formatTime(triggerMs) };
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

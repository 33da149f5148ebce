/** The Endpoints object that a service is to have. Pure. */
import { formatTime, semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { EndpointSubset, Endpoints, Pod, Service } from '@orch/types/core/v1';
import { limits } from '../limits.js';
import { subsetsOf } from './endpoint-subsets.js';
import { hasServiceAddress, headlessLabel, triggerTimeKey } from './service-pods.js';
import { truncateSubsets } from './truncation.js';

const overCapacityKey = () => dialect().key('over-capacity', 'endpoints');

/**
 * @param triggerMs when the change happened that leads to this plan; undefined if that is unknown.
 * @returns the object to write, or undefined when `existing` is right already.
 */
export function planEndpoints(
  service: Service,
  pods: readonly Pod[],
  existing: Endpoints | undefined,
  triggerMs: number | undefined,
): Endpoints | undefined {
  const all = subsetsOf(service, pods);
  const subsets = truncateSubsets(all, limits.endpointAddressCountMax);
  const labels = labelsOf(service);
  const overCapacity = subsets === all ? undefined : 'truncated';
  if (
    existing &&
    existing.metadata?.annotations?.[overCapacityKey()] === overCapacity &&
    semanticallyEqual(existing.metadata?.labels ?? {}, labels) &&
    semanticallyEqual(withoutVersions(existing.subsets), withoutVersions(subsets))
  ) {
    return undefined;
  }
  const { name, namespace } = service.metadata ?? {};
  return {
    ...existing,
    metadata: {
      ...existing?.metadata,
      name,
      namespace,
      labels,
      annotations: annotationsOf(existing, triggerMs, overCapacity),
    },
    subsets: [...subsets],
  };
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel()]: _headless, ...labels } = service.metadata?.labels ?? {};
  return hasServiceAddress(service) ? labels : { ...labels, [headlessLabel()]: '' };
}

function annotationsOf(
  existing: Endpoints | undefined,
  triggerMs: number | undefined,
  overCapacity: string | undefined,
): Record<string, string> {
  const {
    [triggerTimeKey()]: _trigger,
    [overCapacityKey()]: _over,
    ...annotations
  } = existing?.metadata?.annotations ?? {};
  if (triggerMs !== undefined) annotations[triggerTimeKey()] = formatTime(triggerMs);
  if (overCapacity) annotations[overCapacityKey()] = overCapacity;
  return annotations;
}

/** A pod's version alone says nothing about its address. */
function withoutVersions(subsets: readonly EndpointSubset[] | undefined): EndpointSubset[] {
  const strip = (addresses: EndpointSubset['addresses']) =>
    addresses?.map((address) => {
      const { resourceVersion: _version, ...targetRef } = address.targetRef ?? {};
      return { ...address, targetRef };
    });
  return (subsets ?? []).map((subset) => ({
    ...subset,
    addresses: strip(subset.addresses),
    notReadyAddresses: strip(subset.notReadyAddresses),
  }));
}

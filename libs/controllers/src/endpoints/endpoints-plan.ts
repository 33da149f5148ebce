/** The Endpoints object that a service is to have. Pure. */
import { formatTime, parseTime, semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { EndpointSubset, Endpoints, Pod, Service } from '@orch/types/core/v1';
import { readyCondition } from '../common/pods.js';
import { limits } from '../limits.js';
import { subsetsOf } from './endpoint-subsets.js';

const headlessLabel = () => dialect().key('headless', 'service');
const triggerTimeKey = () => dialect().key('last-change-trigger-time', 'endpoints');
const overCapacityKey = () => dialect().key('over-capacity', 'endpoints');

/** @returns the object to write, or undefined when `existing` is right already. */
export function planEndpoints(
  service: Service,
  pods: readonly Pod[],
  existing: Endpoints | undefined,
): Endpoints | undefined {
  const subsets = subsetsOf(service, pods);
  const labels = labelsOf(service);
  const isOver = addressCount(subsets) > limits.endpointAddressCountMax;
  const isNotedOver = existing?.metadata?.annotations?.[overCapacityKey()] !== undefined;
  if (
    existing &&
    isOver === isNotedOver &&
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
      annotations: annotationsOf(service, pods, existing, isOver),
    },
    subsets,
  };
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel()]: _headless, ...labels } = service.metadata?.labels ?? {};
  return service.spec?.clusterIP === 'None' ? { ...labels, [headlessLabel()]: '' } : labels;
}

function annotationsOf(
  service: Service,
  pods: readonly Pod[],
  existing: Endpoints | undefined,
  isOver: boolean,
): Record<string, string> {
  const {
    [triggerTimeKey()]: oldTrigger,
    [overCapacityKey()]: _over,
    ...annotations
  } = existing?.metadata?.annotations ?? {};
  const triggerMs = lastTriggerMs(service, pods, parseTime(oldTrigger) ?? 0);
  if (triggerMs !== undefined) annotations[triggerTimeKey()] = formatTime(triggerMs);
  if (isOver) annotations[overCapacityKey()] = 'warning';
  return annotations;
}

/** When what caused this change happened, so that its delay can be measured. */
function lastTriggerMs(
  service: Service,
  pods: readonly Pod[],
  afterMs: number,
): number | undefined {
  const times = [
    parseTime(service.metadata?.creationTimestamp),
    ...pods.map((pod) => parseTime(readyCondition(pod)?.lastTransitionTime)),
  ].filter((ms): ms is number => ms !== undefined && ms > afterMs);
  return times.length > 0 ? Math.min(...times) : undefined;
}

function addressCount(subsets: readonly EndpointSubset[]): number {
  const ips = subsets.flatMap((subset) =>
    [...(subset.addresses ?? []), ...(subset.notReadyAddresses ?? [])].map((one) => one.ip),
  );
  return new Set(ips).size;
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

/**
 * Amounts of compute resources as numbers: CPU in thousandths, memory and storage in bytes, all
 * other resources in whole units by name. The requests of a pod are computed once per pod object.
 */
import { Quantity } from '@orch/apimachinery';
import type { Container, Pod } from '@orch/types/core/v1';

export interface Resources {
  milliCpu: number;
  memoryBytes: number;
  ephemeralStorageBytes: number;
  /** Extended resources and huge pages; absent when there are none. */
  others?: Map<string, number>;
}

/** The assumed use of a container without a request, for scores but not for the fit. */
const assumedRequest = { milliCpu: 100, memoryBytes: 200 * 1024 * 1024 };

export type ResourceList = Readonly<Record<string, string>>;

export function noResources(): Resources {
  return { milliCpu: 0, memoryBytes: 0, ephemeralStorageBytes: 0 };
}

/** Parses a resource list of the API, rounding up to whole units. */
export function resourcesOf(list: ResourceList | undefined): Resources {
  const result = noResources();
  for (const [name, text] of Object.entries(list ?? {})) {
    const quantity = Quantity.parse(text);
    if (name === 'cpu') result.milliCpu = Number(quantity.milliUnits());
    else if (name === 'memory') result.memoryBytes = Number(quantity.units());
    else if (name === 'ephemeral-storage') result.ephemeralStorageBytes = Number(quantity.units());
    else if (name !== 'pods') {
      result.others ??= new Map();
      result.others.set(name, Number(quantity.units()));
    }
  }
  return result;
}

/** Computes `total += sign * amount` in place. */
export function addResources(total: Resources, amount: Resources, sign: 1 | -1 = 1): void {
  total.milliCpu += sign * amount.milliCpu;
  total.memoryBytes += sign * amount.memoryBytes;
  total.ephemeralStorageBytes += sign * amount.ephemeralStorageBytes;
  if (!amount.others) return;
  total.others ??= new Map();
  for (const [name, count] of amount.others) {
    total.others.set(name, (total.others.get(name) ?? 0) + sign * count);
  }
}

/** Raises each amount to at least that of `floor`, in place. */
function raiseTo(total: Resources, floor: Resources): void {
  total.milliCpu = Math.max(total.milliCpu, floor.milliCpu);
  total.memoryBytes = Math.max(total.memoryBytes, floor.memoryBytes);
  total.ephemeralStorageBytes = Math.max(total.ephemeralStorageBytes, floor.ephemeralStorageBytes);
  for (const [name, count] of floor.others ?? []) {
    total.others ??= new Map();
    total.others.set(name, Math.max(total.others.get(name) ?? 0, count));
  }
}

/** What a pod requests, for the fit and for scores. */
export interface PodRequests {
  readonly requests: Resources;
  /** With `assumedRequest` for containers without a request for CPU or memory. */
  readonly scoringRequests: { readonly milliCpu: number; readonly memoryBytes: number };
}

/**
 * Returns the requests of a pod: for each resource the maximum of the sum over its containers and
 * its largest init container (init containers run sequentially before the others), plus the
 * overhead.
 */
export function podRequests({ spec }: Pod): PodRequests {
  const requests = noResources();
  const scoring = noResources();
  for (const container of spec?.containers ?? []) {
    const amounts = resourcesOf(container.resources?.requests);
    addResources(requests, amounts);
    addResources(scoring, withAssumed(container, amounts));
  }
  for (const container of spec?.initContainers ?? []) {
    const amounts = resourcesOf(container.resources?.requests);
    raiseTo(requests, amounts);
    raiseTo(scoring, withAssumed(container, amounts));
  }
  if (spec?.overhead) {
    const overhead = resourcesOf(spec.overhead);
    addResources(requests, overhead);
    addResources(scoring, overhead);
  }
  const { milliCpu, memoryBytes } = scoring;
  return { requests, scoringRequests: { milliCpu, memoryBytes } };
}

function withAssumed({ resources }: Container, amounts: Resources): Resources {
  const { cpu, memory } = resources?.requests ?? {};
  if (cpu !== undefined && memory !== undefined) return amounts;
  return {
    ...amounts,
    ...(cpu === undefined && { milliCpu: assumedRequest.milliCpu }),
    ...(memory === undefined && { memoryBytes: assumedRequest.memoryBytes }),
  };
}

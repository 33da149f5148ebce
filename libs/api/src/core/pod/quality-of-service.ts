/** Quality of service class of a pod, from the requests and limits of its containers. */
import { Quantity } from '@orch/apimachinery';
import type { PodQOSClass, PodSpec } from '@orch/types/core/v1';

const counted = ['cpu', 'memory'] as const;

interface Asked {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

export function qualityOfService(spec: PodSpec): PodQOSClass {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const asks = containers.map(
    (container): Asked => ({
      requests: amounts(container.resources?.requests),
      limits: amounts(container.resources?.limits),
    }),
  );
  if (asks.every(({ requests, limits }) => requests.size === 0 && limits.size === 0)) {
    return 'BestEffort';
  }
  return asks.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function amounts(list: Readonly<Record<string, string>> | undefined): Map<string, Quantity> {
  const found = new Map<string, Quantity>();
  for (const name of counted) {
    const text = list?.[name];
    if (text === undefined) continue;
    const amount = Quantity.parse(text);
    if (amount.nanos > 0n) found.set(name, amount);
  }
  return found;
}

function isGuaranteed({ requests, limits }: Asked): boolean {
  return counted.every((name) => {
    const limit = limits.get(name);
    const request = requests.get(name);
    return limit !== undefined && (request === undefined || request.equals(limit));
  });
}

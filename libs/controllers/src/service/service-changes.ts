/** The changes of a service that concern its load balancer. Pure. */
import type { LoadBalancerStatus, Service } from '@orch/types/core/v1';

export interface ServiceChange {
  readonly reason: string;
  readonly message: string;
}

/** Returns a text that changes when the load balancer has to be updated or `status` differs. */
export function fingerprintOf(
  { metadata, spec }: Service,
  status: LoadBalancerStatus | undefined,
): string {
  return JSON.stringify([
    (status?.ingress ?? []).map(({ ip, hostname }) => [ip, hostname]),
    [metadata?.uid, metadata?.annotations],
    [spec?.ports, spec?.ipFamilies, spec?.externalIPs, spec?.externalTrafficPolicy],
    [spec?.loadBalancerIP, spec?.loadBalancerSourceRanges, spec?.healthCheckNodePort],
    [spec?.sessionAffinity, spec?.sessionAffinityConfig],
  ]);
}

/** Returns the events of a change of the specification. */
export function changeOf({ spec }: Service, { spec: old }: Service): ServiceChange[] {
  const changes: ServiceChange[] = [];
  const compare = (reason: string, before: string, after: string) => {
    if (before !== after) changes.push({ reason, message: `${before} -> ${after}` });
  };
  const ranges = (list: readonly string[] | undefined) => `[${(list ?? []).join(' ')}]`;
  compare('Type', old?.type ?? '', spec?.type ?? '');
  compare(
    'LoadBalancerSourceRanges',
    ranges(old?.loadBalancerSourceRanges),
    ranges(spec?.loadBalancerSourceRanges),
  );
  compare('LoadbalancerIP', old?.loadBalancerIP ?? '', spec?.loadBalancerIP ?? '');
  compare(
    'ExternalTrafficPolicy',
    old?.externalTrafficPolicy ?? '',
    spec?.externalTrafficPolicy ?? '',
  );
  return changes;
}

/** Which services have a load balancer. Pure. */
import { dialect } from '@orch/component';
import type { Service } from '@orch/types/core/v1';

/** Whether the service should have one of this provider; other classes have other providers. */
export function wantsLoadBalancer({ metadata, spec }: Service): boolean {
  if (metadata?.deletionTimestamp) return false;
  return spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;
}

/** The finalizer that keeps a service until its load balancer is deleted. */
export function cleanupFinalizer(): string {
  return dialect().key('load-balancer-cleanup', 'service');
}

export function hasCleanupFinalizer({ metadata }: Service): boolean {
  return metadata?.finalizers?.includes(cleanupFinalizer()) ?? false;
}

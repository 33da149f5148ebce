/** Quota usage of services: the number, the node ports and the load balancers. Pure. */
import type { Service } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import { unitAmount } from './amounts.js';
import type { QuotaEvaluator } from './evaluator.js';

const names = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

/**
 * Quotas are charged before node ports are allocated, so this counts the ports that will be
 * allocated.
 */
function nodePortCount({ spec }: Service): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false
    ? ports.filter(({ nodePort }) => nodePort).length
    : ports.length;
}

export const serviceEvaluator: QuotaEvaluator<Service> = {
  countedNames: (all) => all.filter((name) => names.includes(name)),
  usage(service) {
    const balancers = service.spec?.type === 'LoadBalancer' ? 1 : 0;
    return new Map([
      ['count/services', unitAmount],
      ['services', unitAmount],
      ['services.nodeports', Quantity.of(nodePortCount(service))],
      ['services.loadbalancers', Quantity.of(balancers)],
    ]);
  },
  missingResources: () => [],
  matches: () => false,
  changesWithUpdates: true,
  countsOnly: false,
};

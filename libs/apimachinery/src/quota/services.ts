/** Services count by number, by node ports and by whether a balancer is asked for. Pure. */
import type { Service } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import { one } from './amounts.js';
import type { QuotaEvaluator } from './evaluator.js';

const names = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

/** Ports are given out after quotas were asked: what counts is how many there will be. */
function nodePortCount({ spec }: Service): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false
    ? ports.filter(({ nodePort }) => nodePort).length
    : ports.length;
}

export const serviceEvaluator: QuotaEvaluator = {
  countedNames: (all) => all.filter((name) => names.includes(name)),
  usage(object) {
    const service = object as Service;
    const balancers = service.spec?.type === 'LoadBalancer' ? 1 : 0;
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.nodeports', Quantity.of(nodePortCount(service))],
      ['services.loadbalancers', Quantity.of(balancers)],
    ]);
  },
  unsaid: () => [],
  matches: () => false,
  changesWithUpdates: true,
  countsOnly: false,
};

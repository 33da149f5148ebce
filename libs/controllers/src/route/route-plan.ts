/** Which routes to the pods of nodes are missing, and which lead nowhere. Pure. */
import type { Node } from '@orch/types/core/v1';
import ipaddr from 'ipaddr.js';
import type { Route } from '../provider/provider.js';

export interface RoutePlan {
  readonly missing: readonly Route[];
  readonly superfluous: readonly Route[];
}

/**
 * Compares the routes of the provider with the ranges of the nodes. A route outside of
 * `clusterCidrs` belongs to another system and stays.
 */
export function planRoutes(
  nodes: readonly Node[],
  routes: readonly Route[],
  clusterCidrs: readonly string[],
): RoutePlan {
  const present = new Set(routes.map(keyOf));
  const wanted = nodes.flatMap(routesTo);
  const wantedKeys = new Set(wanted.map(keyOf));
  return {
    missing: wanted.filter((route) => !present.has(keyOf(route))),
    superfluous: routes.filter(
      (route) =>
        !wantedKeys.has(keyOf(route)) &&
        clusterCidrs.some((cidr) => isWithin(route.destination, cidr)),
    ),
  };
}

/** The routes that the node needs; none while it has no range. */
export function routesTo({ metadata, spec }: Node): Route[] {
  const nodeName = metadata?.name ?? '';
  return (spec?.podCIDRs ?? []).map((destination) => ({ nodeName, destination }));
}

function keyOf({ nodeName, destination }: Route): string {
  return `${nodeName} ${destination}`;
}

function isWithin(cidr: string, outer: string): boolean {
  if (!ipaddr.isValidCIDR(cidr)) return false;
  const [address] = ipaddr.parseCIDR(cidr);
  const [outerAddress, prefix] = ipaddr.parseCIDR(outer);
  return address.kind() === outerAddress.kind() && address.match(outerAddress, prefix);
}

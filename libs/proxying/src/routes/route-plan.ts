/** Computes the routes to the pods of other machines from the nodes. Pure. */
import type { Node } from '@orch/types/core/v1';
import ipaddr from 'ipaddr.js';

/** A route to a range of pods, through the address of their node. */
export interface PodRoute {
  readonly range: string;
  readonly via: string;
}

export interface RouteChanges {
  readonly added: readonly PodRoute[];
  readonly removed: readonly PodRoute[];
}

/**
 * Returns a route for each IPv4 range of a node on another machine that is inside of `podRange`, so
 * that no node attracts other traffic. If ranges overlap, the older node has the range.
 */
export function podRoutes(
  nodes: readonly Node[],
  podRange: string,
  localAddresses: ReadonlySet<string>,
  rangesOf: (node: Node) => readonly string[],
): PodRoute[] {
  const routes: PodRoute[] = [];
  const outer = networkOf(podRange);
  if (!outer) return routes;
  const claimed: Network[] = [];
  for (const node of [...nodes].sort(compareAge)) {
    const addresses = (node.status?.addresses ?? [])
      .filter(({ type, address }) => type === 'InternalIP' && isIpv4(address))
      .map(({ address = '' }) => address);
    const isLocal = addresses.some((one) => localAddresses.has(one) || one.startsWith('127.'));
    const [via] = addresses;
    for (const cidr of rangesOf(node)) {
      const network = networkOf(cidr);
      if (!network || !isWithin(network, outer)) continue;
      if (claimed.some((other) => overlaps(other, network))) continue;
      claimed.push(network);
      if (via !== undefined && !isLocal) routes.push({ range: network.cidr, via });
    }
  }
  return routes;
}

/** Returns the changes that turn the present routes into the wanted ones. */
export function routeChanges(
  present: readonly PodRoute[],
  wanted: readonly PodRoute[],
): RouteChanges {
  const keyOf = ({ range, via }: PodRoute) => `${range} ${via}`;
  const presentKeys = new Set(present.map(keyOf));
  const wantedKeys = new Set(wanted.map(keyOf));
  return {
    added: wanted.filter((route) => !presentKeys.has(keyOf(route))),
    removed: present.filter((route) => !wantedKeys.has(keyOf(route))),
  };
}

function isIpv4(address = ''): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address);
}

/** An IPv4 network, with its first and last address as numbers. */
interface Network {
  readonly cidr: string;
  readonly first: number;
  readonly last: number;
}

/** Undefined for anything but an IPv4 CIDR. */
function networkOf(cidr: string): Network | undefined {
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) return undefined;
  const [, prefix] = ipaddr.IPv4.parseCIDR(cidr);
  const address = ipaddr.IPv4.networkAddressFromCIDR(cidr);
  const first = address.octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return { cidr: `${address}/${prefix}`, first, last: first + 2 ** (32 - prefix) - 1 };
}

function isWithin(inner: Network, outer: Network): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}

function overlaps(one: Network, other: Network): boolean {
  return one.first <= other.last && other.first <= one.last;
}

function compareAge(a: Node, b: Node): number {
  const [aCreated = '', bCreated = ''] = [a, b].map((one) => one.metadata?.creationTimestamp);
  if (aCreated !== bCreated) return aCreated < bCreated ? -1 : 1;
  return (a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1;
}

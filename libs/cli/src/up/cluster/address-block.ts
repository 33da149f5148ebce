/**
 * The addresses and ports of one cluster, computed from its index on this machine, so that clusters
 * in different directories do not overlap: services `10.(96+i).0.0/16`, pods `10.(160+i).0.0/16`
 * with a /24 per node, node ports and 128 component ports. Index 0 has the usual defaults.
 * `cluster-index.ts` chooses a free index.
 */

import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { clusterCountMax, nodeCountMax, replicaCountMax } from './limits.js';

export interface AddressBlock {
  readonly index: number;
  readonly serviceCidr: string;
  readonly podCidr: string;
  readonly nodePortRange: string;
  readonly ports: ComponentPorts;
}

export interface ComponentPorts {
  readonly controllerManager: number;
  readonly scheduler: number;
  readonly proxy: number;
  /** Port of node 1. Node n has the port n - 1 higher. */
  readonly nodes: number;
  /**
   * Client port of API server 2. Server n has the port n - 2 higher. The user chooses the port of
   * server 1.
   */
  readonly apiServers: number;
  /** Peer port of API server 1. Server n has the port n - 1 higher. */
  readonly peers: number;
}

const componentPortBase = 20_000;
const componentPortCount = 128;
const apiServerPortOffset = 110;
const peerPortOffset = 114;
const ownNodePortBase = 12_000;
const ownNodePortCount = 100;

/**
 * The block of an index. With root's rights services have addresses in 10/8, otherwise in 127/8,
 * where every user may bind.
 */
export function addressBlock(index: number, withRoot: boolean): AddressBlock {
  if (!Number.isInteger(index) || index < 0 || index >= clusterCountMax) {
    throw new Error(`cluster index ${index} is out of range, at most ${clusterCountMax - 1}`);
  }
  const firstPort = componentPortBase + index * componentPortCount;
  const firstNodePort = ownNodePortBase + index * ownNodePortCount;
  return {
    index,
    serviceCidr: `${withRoot ? 10 : 127}.${96 + index}.0.0/16`,
    podCidr: `10.${160 + index}.0.0/16`,
    nodePortRange:
      index === 0 ? '30000-32767' : `${firstNodePort}-${firstNodePort + ownNodePortCount - 1}`,
    ports: {
      controllerManager: firstPort,
      scheduler: firstPort + 1,
      proxy: firstPort + 2,
      nodes: firstPort + 10,
      apiServers: firstPort + apiServerPortOffset,
      peers: firstPort + peerPortOffset,
    },
  };
}

/**
 * Ports of the block for `replicaCount` API servers: the client ports of all but the first, and the
 * peer ports.
 */
export function replicaPorts({ ports }: AddressBlock, replicaCount: number): number[] {
  const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
  return [...range(ports.apiServers, replicaCount - 1), ...range(ports.peers, replicaCount)];
}

/** Ports that must be free before a cluster claims the block. */
export function portsOfBlock(block: AddressBlock): number[] {
  const { controllerManager, scheduler, proxy, nodes } = block.ports;
  return [controllerManager, scheduler, proxy, nodes, ...replicaPorts(block, replicaCountMax)];
}

/** Pod addresses of node `ordinal` (1 is the first). */
export function nodePodCidr(block: AddressBlock, ordinal: number): string {
  if (ordinal < 1 || ordinal > nodeCountMax)
    throw new Error(`node ${ordinal} is out of range, at most ${nodeCountMax}`);
  const [first, second] = block.podCidr.split('.');
  return `${first}.${second}.${ordinal}.0/24`;
}

/** The address of the API's own service: the first one of the service range. */
export function apiServiceAddress(block: AddressBlock): string {
  return block.serviceCidr.replace(/\.0\/16$/, '.1');
}

/**
 * The second octets of the `10.x` networks in which this machine has an address or to which it has
 * a route.
 */
export function usedSecondOctets(): ReadonlySet<number> {
  const used = new Set<number>();
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { address } of addresses ?? []) {
      const [first, second] = address.split('.').map(Number);
      if (first === 10 && second !== undefined) used.add(second);
    }
  }
  for (const line of readFileSync('/proc/net/route', 'utf8').split('\n').slice(1)) {
    const [, destination, , , , , , mask] = line.split('\t');
    if (!destination || !mask) continue;
    const [first, second] = [...Buffer.from(destination, 'hex').reverse()];
    const maskSecond = [...Buffer.from(mask, 'hex').reverse()][1] ?? 0;
    // A route to all of 10/8 does not conflict: the longer prefix wins.
    if (first !== 10 || second === undefined || maskSecond === 0) continue;
    for (let octet = second; octet <= (second | (~maskSecond & 0xff)); octet += 1) used.add(octet);
  }
  return used;
}

/** Whether the networks of the block do not overlap those of the machine. */
export function isClearOf(block: AddressBlock, octets: ReadonlySet<number>): boolean {
  return [block.serviceCidr, block.podCidr].every(
    (cidr) => !cidr.startsWith('10.') || !octets.has(Number(cidr.split('.')[1])),
  );
}

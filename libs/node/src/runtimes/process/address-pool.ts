/**
 * The pod addresses of one node, allocated round-robin, so that an address is reused as late as
 * possible. Pure: the caller stores which sandbox has which address.
 */
import ipaddr from 'ipaddr.js';
import { podCidrPrefixMax, podCidrPrefixMin } from '../../limits.js';
import { RuntimeError } from '../container-runtime.js';

export class AddressPool {
  /** The first address, which the node uses. */
  readonly gateway: string;
  private readonly taken = new Set<number>();
  private next = 2;

  /** Throws `InvalidConfig` unless `cidr` is an IPv4 network of a size within the limits. */
  constructor(readonly cidr: string) {
    const { base, prefix } = parseCidr(cidr);
    this.base = base;
    this.prefixLength = prefix;
    this.size = 2 ** (32 - prefix);
    this.gateway = this.address(1);
  }

  readonly prefixLength: number;
  private readonly base: number;
  private readonly size: number;

  /** The number of allocatable addresses: all except network, gateway and broadcast. */
  get capacity(): number {
    return this.size - 3;
  }

  /** Marks an address as in use. Returns false if it is outside the network or already in use. */
  reserve(address: string): boolean {
    const offset = toNumber(address) - this.base;
    if (offset < 2 || offset > this.size - 2 || this.taken.has(offset)) return false;
    this.taken.add(offset);
    this.next = offset + 1;
    return true;
  }

  /** Returns a free address. Throws `Exhausted` if all are in use. */
  allocate(): string {
    if (this.taken.size >= this.capacity) {
      throw new RuntimeError(
        'Exhausted',
        `all ${this.capacity} addresses of ${this.cidr} are in use`,
      );
    }
    for (;;) {
      if (this.next > this.size - 2) this.next = 2;
      const offset = this.next;
      this.next += 1;
      if (this.taken.has(offset)) continue;
      this.taken.add(offset);
      return this.address(offset);
    }
  }

  release(address: string): void {
    this.taken.delete(toNumber(address) - this.base);
  }

  private address(offset: number): string {
    const value = this.base + offset;
    return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');
  }
}

/** Returns the loopback counterpart of `address`, on which the pod listens in plain mode. */
export function loopbackAddress(address: string): string {
  return address.replace(/^\d+/, '127');
}

function parseCidr(cidr: string): { base: number; prefix: number } {
  if (!ipaddr.IPv4.isValidCIDR(cidr)) {
    throw new RuntimeError('InvalidConfig', `the pod CIDR ${cidr} is not an IPv4 network`);
  }
  const prefix = ipaddr.IPv4.parseCIDR(cidr)[1];
  if (prefix < podCidrPrefixMin || prefix > podCidrPrefixMax) {
    const range = `/${podCidrPrefixMin} to /${podCidrPrefixMax}`;
    throw new RuntimeError('InvalidConfig', `the pod CIDR ${cidr} must be ${range}`);
  }
  return { base: toNumber(ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()), prefix };
}

function toNumber(address: string): number {
  return ipaddr.IPv4.parse(address)
    .toByteArray()
    .reduce((value, octet) => value * 256 + octet, 0);
}

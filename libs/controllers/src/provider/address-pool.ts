/**
 * The addresses of a pool and the service that has each. Pure. An address belongs to one service; a
 * service has one address.
 */
import ipaddr from 'ipaddr.js';

/** Addresses from `first` to `last`, as numbers. */
export interface AddressRange {
  readonly first: number;
  readonly last: number;
}

/** Parses `192.0.2.0/28` or `192.0.2.1-192.0.2.9`; undefined if the text is neither. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [from = '', to, ...rest] = text.split('-');
  if (rest.length > 0) return undefined;
  if (to === undefined) {
    if (!from.includes('/') || !ipaddr.IPv4.isValidCIDRFourPartDecimal(from)) return undefined;
    return {
      first: toNumber(ipaddr.IPv4.networkAddressFromCIDR(from).toString()),
      last: toNumber(ipaddr.IPv4.broadcastAddressFromCIDR(from).toString()),
    };
  }
  if (!isAddress(from) || !isAddress(to)) return undefined;
  const range = { first: toNumber(from), last: toNumber(to) };
  return range.first <= range.last ? range : undefined;
}

export class AddressPool {
  private readonly holders = new Map<string, string>();
  private readonly byService = new Map<string, string>();

  constructor(private readonly ranges: readonly AddressRange[]) {}

  contains(address: string): boolean {
    if (!isAddress(address)) return false;
    const number = toNumber(address);
    return this.ranges.some(({ first, last }) => first <= number && number <= last);
  }

  holderOf(address: string): string | undefined {
    return this.holders.get(address);
  }

  addressOf(service: string): string | undefined {
    return this.byService.get(service);
  }

  /** Gives the address to the service. @returns false if it is not in the pool or not free. */
  hold(service: string, address: string): boolean {
    const holder = this.holders.get(address);
    if (holder === service) return true;
    if (holder !== undefined || !this.contains(address)) return false;
    this.free(service);
    this.holders.set(address, service);
    this.byService.set(service, address);
    return true;
  }

  /** Returns the address of the service, otherwise the first free one; undefined if none is. */
  allocate(service: string): string | undefined {
    const held = this.byService.get(service);
    if (held !== undefined) return held;
    for (const { first, last } of this.ranges) {
      for (let number = first; number <= last; number++) {
        const address = toAddress(number);
        if (this.hold(service, address)) return address;
      }
    }
    return undefined;
  }

  /** @returns whether the service had an address. */
  free(service: string): boolean {
    const address = this.byService.get(service);
    if (address === undefined) return false;
    this.byService.delete(service);
    this.holders.delete(address);
    return true;
  }
}

function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text);
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function toAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

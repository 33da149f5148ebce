/** Addresses of a CIDR by index. Only the first 2^32 addresses of an IPv6 range are used. */
import { isIPv4 } from 'node:net';

const usedCountMax = 2 ** 32;

/**
 * Number of addresses that can be allocated: excludes the first, and for IPv4 the last. Their
 * indexes are 1 to this number.
 */
export function addressCount(range: string): number {
  const [network = '', length = ''] = range.split('/');
  const bits = isIPv4(network) ? 32 : 128;
  const total = Math.min(2 ** (bits - Number(length)), usedCountMax);
  return Math.max(0, total - (bits === 32 ? 2 : 1));
}

/** The address at an index; 0 is the network address. */
export function addressAt(range: string, index: number): string {
  const [network = ''] = range.split('/');
  return isIPv4(network) ? addIpv4(network, index) : addIpv6(network, index);
}

function addIpv4(address: string, index: number): string {
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) + index;
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

function addIpv6(address: string, index: number): string {
  let number = BigInt(index);
  for (const [position, group] of ipv6Groups(address).entries()) {
    number += BigInt(group) << BigInt(16 * (7 - position));
  }
  const groups = Array.from({ length: 8 }, (_, position) =>
    Number((number >> BigInt(16 * (7 - position))) & 0xffffn),
  );
  return compress(groups);
}

function ipv6Groups(address: string): number[] {
  const parse = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [head = '', tail] = address.split('::');
  const before = parse(head);
  const after = tail === undefined ? [] : parse(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...zeros, ...after];
}

/** The longest run of zeros, two or more, becomes `::`. */
function compress(groups: readonly number[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0;
    while (groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  if (best.start < 0) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

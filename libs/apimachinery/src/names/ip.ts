/** Formats of IP addresses and CIDRs, in the interface's wording. */
import { isIPv4, isIPv6 } from 'node:net';

export function isIp(text: string): boolean {
  return isIPv4(text) || (isIPv6(text) && !text.includes('%'));
}

export function checkIp(text: string): string[] {
  return isIp(text) ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'];
}

/** `address/length` with a length that fits the family. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!isIp(address) || !/^\d{1,3}$/.test(length)) return false;
  return Number(length) <= (isIPv4(address) ? 32 : 128);
}

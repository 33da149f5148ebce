/** The address at which other machines reach a server of this machine. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Returns the first external IPv4 address of this machine; the loopback address if there is none.
 */
export function hostAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    if (found) return found.address;
  }
  return '127.0.0.1';
}

/** Returns the address of a server: a loopback address if only this machine can connect. */
export function reachableAddress(bindAddress: string): string {
  const isAny = bindAddress === '0.0.0.0' || bindAddress === '::';
  return isIP(bindAddress) && !isAny ? bindAddress : hostAddress();
}

/** Returns the host of a URL for an address. */
export function urlHost(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address;
}

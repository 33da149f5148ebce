/**
 * The source addresses of a request: the forwarded addresses, in their order, then the address of
 * the peer.
 */
import { isIP } from 'node:net';
import type { RawRequest } from '../http/request-context.js';
import { auditSourceAddressesMax } from '../limits.js';

export function sourceAddresses({ headers, socket }: RawRequest): string[] {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const real = [headers['x-real-ip'] ?? []].flat().join(',');
  const addresses = forwarded
    .slice(0, auditSourceAddressesMax)
    .map((address) => address.trim())
    .filter((address) => isIP(address) !== 0);
  if (isIP(real) !== 0 && !addresses.includes(real)) addresses.push(real);
  const remote = (socket?.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
  if (remote !== '' && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

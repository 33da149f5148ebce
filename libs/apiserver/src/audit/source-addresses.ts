/** Where a request comes from: what proxies say, in their order, then the connection's other end. */
import { isIP } from 'node:net';
import { auditSourceAddressesMax } from '../limits.js';
import type { RawRequest } from '../response/exchange.js';

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

/** Decides which clients may connect, by their address. Pure. */
import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Whether a client with this address may connect. */
export type SourceFilter = (clientAddress: string) => boolean;

/** Returns the filter of a list of CIDRs; without a list every client is accepted. */
export function sourceFilter(ranges: readonly string[] | undefined): SourceFilter {
  if (!ranges) return () => true;
  const accepted = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    const length = Number(prefix);
    // An invalid range accepts no client: the API server validates the field, not the annotation.
    if (!/^\d{1,3}$/.test(prefix)) continue;
    if (isIPv4(address) && length <= 32) accepted.addSubnet(address, length, 'ipv4');
    else if (isIPv6(address) && length <= 128) accepted.addSubnet(address, length, 'ipv6');
  }
  return (clientAddress) => {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(clientAddress)?.[1];
    const address = mapped ?? clientAddress;
    if (isIPv4(address)) return accepted.check(address, 'ipv4');
    return isIPv6(address) && accepted.check(address, 'ipv6');
  };
}

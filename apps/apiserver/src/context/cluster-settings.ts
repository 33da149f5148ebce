/** The address and port ranges of the cluster, from the flags. */
import type { ClusterOptions } from '@orch/api';
import { exitCodes, FatalError, type Features } from '@orch/component';
import ipaddr from 'ipaddr.js';
import type { ApiServerOptions } from '../options/api-server-options.js';

/** Throws FatalError if a range is invalid. */
export function clusterSettings(options: ApiServerOptions, features: Features): ClusterOptions {
  const ranges = options.serviceClusterIpRange;
  if (
    ranges.length === 0 ||
    ranges.length > 2 ||
    !ranges.every((range) => ipaddr.isValidCIDR(range))
  ) {
    throw new FatalError(
      exitCodes.usage,
      `--service-cluster-ip-range: want one CIDR, or two of different families, got ${ranges.join(',')}`,
    );
  }
  if (ranges.length === 2 && !features.enabled('IPv6DualStack')) {
    throw new FatalError(
      exitCodes.usage,
      '--service-cluster-ip-range: a second range needs the feature gate IPv6DualStack',
    );
  }
  const [from = 0, to = 0] = options.serviceNodePortRange.split('-').map(Number);
  if (from < 1 || to > 65_535 || from > to) {
    throw new FatalError(
      exitCodes.usage,
      `--service-node-port-range: want two ports in ascending order, got ${options.serviceNodePortRange}`,
    );
  }
  return { serviceClusterIpRanges: ranges, serviceNodePortRange: { from, to } };
}

/** Returns the address of the API's own service: the first of the range. */
export function firstServiceAddress({ serviceClusterIpRanges }: ClusterOptions): string {
  const [address, prefix] = ipaddr.parseCIDR(serviceClusterIpRanges[0]!);
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${prefix}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address}/${prefix}`);
  const bytes = network.toByteArray();
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) + 1;
  return ipaddr.fromByteArray(bytes).toString();
}

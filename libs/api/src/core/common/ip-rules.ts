/** Validates addresses that must be reachable from other hosts. */
import { BlockList, isIPv4 } from 'node:net';
import { type FieldError, type FieldPath, fieldError, isIp } from '@orch/apimachinery';

function block(entries: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of entries) {
    list.addSubnet(network, prefix, isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return list;
}

const special: readonly { readonly list: BlockList; readonly message: string }[] = [
  {
    list: block([
      ['0.0.0.0', 32],
      ['::', 128],
    ]),
    message: 'may not be unspecified (0.0.0.0)',
  },
  {
    list: block([
      ['127.0.0.0', 8],
      ['::1', 128],
    ]),
    message: 'may not be in the loopback range (127.0.0.0/8)',
  },
  {
    list: block([
      ['169.254.0.0', 16],
      ['fe80::', 10],
    ]),
    message: 'may not be in the link-local range (169.254.0.0/16)',
  },
  {
    list: block([
      ['224.0.0.0', 24],
      ['ff02::', 16],
    ]),
    message: 'may not be in the link-local multicast range (224.0.0.0/24)',
  },
];

/** Errors for an invalid address or one in a special range. */
export function validateReachableIp(ip: string, fieldPath: FieldPath): FieldError[] {
  if (!isIp(ip)) return [fieldError.invalid(fieldPath, ip, 'must be a valid IP address')];
  const family = isIPv4(ip) ? 'ipv4' : 'ipv6';
  return special
    .filter(({ list }) => list.check(ip, family))
    .map(({ message }) => fieldError.invalid(fieldPath, ip, message));
}

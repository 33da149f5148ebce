/** Rules of endpoint slices, in the words of v1. */
import { isIPv4, isIPv6 } from 'node:net';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  isIp,
  path,
  validateLabels,
} from '@orch/apimachinery';
import type { Endpoint, EndpointPort, EndpointSlice } from '@orch/types/discovery/v1';
import { validateReachableIp } from '../core/ip-rules.js';
import { checkOptional, checkQualified, checkRequiredOneOf, invalidEach } from '../shared/rules.js';

const endpointCountMax = 1000;
const addressCountMax = 100;
const portCountMax = 20_000;
const topologyCountMax = 16;

export function validateSlice(object: EndpointSlice): FieldError[] {
  const { addressType, endpoints, ports } = object;
  return [
    ...checkRequiredOneOf(addressType, ['FQDN', 'IPv4', 'IPv6'], path('addressType')),
    ...each(endpoints, endpointCountMax, path('endpoints'), (endpoint, at) =>
      validateEndpoint(endpoint, addressType, at),
    ),
    ...validatePorts(ports, path('ports')),
  ];
}

/** The rules of each item; none of them when there are too many. */
function each<T>(
  items: readonly T[] | undefined,
  countMax: number,
  at: FieldPath,
  rule: (item: T, at: FieldPath) => FieldError[],
): FieldError[] {
  const all = items ?? [];
  return all.length > countMax
    ? [fieldError.tooMany(at, all.length, countMax)]
    : all.flatMap((item, index) => rule(item, at.index(index)));
}

function validateEndpoint(endpoint: Endpoint, type: string, at: FieldPath): FieldError[] {
  const addresses = endpoint.addresses ?? [];
  const addressesAt = at.child('addresses');
  const errors: FieldError[] = [];
  if (addresses.length === 0) {
    errors.push(fieldError.required(addressesAt, 'must contain at least 1 address'));
  } else if (addresses.length > addressCountMax) {
    errors.push(fieldError.tooMany(addressesAt, addresses.length, addressCountMax));
  }
  for (const [index, address] of addresses.entries()) {
    errors.push(...validateAddress(address, type, addressesAt.index(index)));
  }
  const { nodeName, hostname, deprecatedTopology = {} } = endpoint;
  if (nodeName !== undefined) {
    errors.push(...invalidEach(at.child('nodeName'), nodeName, checkDns1123Subdomain(nodeName)));
  }
  const topologyAt = at.child('deprecatedTopology');
  const topologyCount = Object.keys(deprecatedTopology).length;
  if (topologyCount > topologyCountMax) {
    errors.push(fieldError.tooMany(topologyAt, topologyCount, topologyCountMax));
  }
  errors.push(...validateLabels(deprecatedTopology, topologyAt));
  if (hostname !== undefined) {
    errors.push(...invalidEach(at.child('hostname'), hostname, checkDns1123Label(hostname)));
  }
  return errors;
}

function validateAddress(address: string, type: string, at: FieldPath): FieldError[] {
  switch (type) {
    case 'IPv4':
      return [
        ...(isIPv4(address) ? [] : invalidEach(at, address, ['must be a valid IPv4 address'])),
        ...validateReachableIp(address, at),
      ];
    case 'IPv6':
      return [
        ...(isIp(address) && isIPv6(address)
          ? []
          : invalidEach(at, address, ['must be a valid IPv6 address'])),
        ...validateReachableIp(address, at),
      ];
    case 'FQDN':
      return validateDomain(address, at);
    default:
      return [];
  }
}

/** At least two labels; a dot may stand at the end. */
function validateDomain(address: string, at: FieldPath): FieldError[] {
  if (address === '') return [fieldError.required(at)];
  const name = address.endsWith('.') ? address.slice(0, -1) : address;
  const messages = checkDns1123Subdomain(name);
  if (messages.length > 0) return [fieldError.invalid(at, name, messages.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    const detail = 'should be a domain with at least two segments separated by dots';
    return [fieldError.invalid(at, name, detail)];
  }
  const wrong = labels.find((label) => checkDns1123Label(label).length > 0);
  return wrong === undefined
    ? []
    : [fieldError.invalid(at, wrong, checkDns1123Label(wrong).join(','))];
}

function validatePorts(ports: readonly EndpointPort[] | undefined, at: FieldPath): FieldError[] {
  const names = new Set<string>();
  return each(ports, portCountMax, at, ({ name = '', protocol, appProtocol }, field) => {
    const errors = checkOptional(name, field.child('name'), checkDns1123Label);
    if (names.has(name)) errors.push(fieldError.duplicate(field.child('name'), name));
    names.add(name);
    errors.push(...checkRequiredOneOf(protocol, ['SCTP', 'TCP', 'UDP'], field.child('protocol')));
    if (appProtocol !== undefined) {
      errors.push(...checkQualified(appProtocol, field.child('appProtocol')));
    }
    return errors;
  });
}

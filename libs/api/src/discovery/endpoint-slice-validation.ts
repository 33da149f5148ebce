/** Validates endpoint slices, with the field names of v1. */
import { isIPv4, isIPv6 } from 'node:net';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  type FieldError,
  type FieldPath,
  fieldError,
  isIp,
  path,
  validateLabels,
} from '@orch/apimachinery';
import type { Endpoint, EndpointPort, EndpointSlice, ForZone } from '@orch/types/discovery/v1';
import { validateReachableIp } from '../core/common/ip-rules.js';
import {
  checkOneOf,
  checkOptional,
  checkQualified,
  checkRequiredOneOf,
  invalidEach,
} from '../shared/rules.js';

const endpointCountMax = 1000;
const addressCountMax = 100;
const portCountMax = 20_000;
const topologyCountMax = 16;
const zoneCountMax = 8;

export function validateSlice(object: EndpointSlice): FieldError[] {
  const { addressType, endpoints, ports } = object;
  return [
    ...checkRequiredOneOf(addressType, ['FQDN', 'IPv4', 'IPv6'], path('addressType')),
    ...each(endpoints, endpointCountMax, path('endpoints'), (endpoint, fieldPath) =>
      validateEndpoint(endpoint, addressType, fieldPath),
    ),
    ...validatePorts(ports, path('ports')),
  ];
}

/** Validates each item, unless there are too many. */
function each<T>(
  items: readonly T[] | undefined,
  countMax: number,
  fieldPath: FieldPath,
  rule: (item: T, fieldPath: FieldPath) => FieldError[],
): FieldError[] {
  const all = items ?? [];
  return all.length > countMax
    ? [fieldError.tooMany(fieldPath, all.length, countMax)]
    : all.flatMap((item, index) => rule(item, fieldPath.index(index)));
}

function validateEndpoint(endpoint: Endpoint, type: string, fieldPath: FieldPath): FieldError[] {
  const addresses = endpoint.addresses ?? [];
  const addressesAt = fieldPath.child('addresses');
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
    errors.push(
      ...invalidEach(fieldPath.child('nodeName'), nodeName, checkDns1123Subdomain(nodeName)),
    );
  }
  const topologyAt = fieldPath.child('deprecatedTopology');
  const topologyCount = Object.keys(deprecatedTopology).length;
  if (topologyCount > topologyCountMax) {
    errors.push(fieldError.tooMany(topologyAt, topologyCount, topologyCountMax));
  }
  errors.push(...validateLabels(deprecatedTopology, topologyAt));
  if (hostname !== undefined) {
    errors.push(...invalidEach(fieldPath.child('hostname'), hostname, checkDns1123Label(hostname)));
  }
  const zonesAt = fieldPath.child('hints', 'forZones');
  return [...errors, ...validateZones(endpoint.hints?.forZones ?? [], zonesAt)];
}

function validateZones(zones: readonly ForZone[], fieldPath: FieldPath): FieldError[] {
  if (zones.length > zoneCountMax) {
    return [fieldError.tooMany(fieldPath, zones.length, zoneCountMax)];
  }
  return zones.flatMap(({ name }, index) => {
    const nameAt = fieldPath.index(index).child('name');
    const isRepeated = zones.findIndex((zone) => zone.name === name) < index;
    return [
      ...(isRepeated ? [fieldError.duplicate(nameAt, name)] : []),
      ...invalidEach(nameAt, name, checkLabelValue(name)),
    ];
  });
}

function validateAddress(address: string, type: string, fieldPath: FieldPath): FieldError[] {
  switch (type) {
    case 'IPv4':
      return [
        ...(isIPv4(address)
          ? []
          : invalidEach(fieldPath, address, ['must be a valid IPv4 address'])),
        ...validateReachableIp(address, fieldPath),
      ];
    case 'IPv6':
      return [
        ...(isIp(address) && isIPv6(address)
          ? []
          : invalidEach(fieldPath, address, ['must be a valid IPv6 address'])),
        ...validateReachableIp(address, fieldPath),
      ];
    case 'FQDN':
      return validateDomain(address, fieldPath);
    default:
      return [];
  }
}

/** At least two labels; a trailing dot is allowed. */
function validateDomain(address: string, fieldPath: FieldPath): FieldError[] {
  if (address === '') return [fieldError.required(fieldPath)];
  const name = address.endsWith('.') ? address.slice(0, -1) : address;
  const messages = checkDns1123Subdomain(name);
  if (messages.length > 0) return [fieldError.invalid(fieldPath, name, messages.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    const detail = 'should be a domain with at least two segments separated by dots';
    return [fieldError.invalid(fieldPath, name, detail)];
  }
  const wrong = labels.find((label) => checkDns1123Label(label).length > 0);
  return wrong === undefined
    ? []
    : [fieldError.invalid(fieldPath, wrong, checkDns1123Label(wrong).join(','))];
}

function validatePorts(
  ports: readonly EndpointPort[] | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const names = new Set<string>();
  return each(ports, portCountMax, fieldPath, ({ name = '', protocol, appProtocol }, field) => {
    const errors = checkOptional(name, field.child('name'), checkDns1123Label);
    if (names.has(name)) errors.push(fieldError.duplicate(field.child('name'), name));
    names.add(name);
    const protocols = ['SCTP', 'TCP', 'UDP'];
    errors.push(
      ...(protocol === undefined
        ? [fieldError.required(field.child('protocol'))]
        : checkOneOf(protocol, protocols, field.child('protocol'))),
    );
    if (appProtocol !== undefined) {
      errors.push(...checkQualified(appProtocol, field.child('appProtocol')));
    }
    return errors;
  });
}

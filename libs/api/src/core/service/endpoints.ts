/** Endpoints: the addresses behind a service, grouped by ports. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkIp,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { ageColumn, nameColumn, none } from '../../shared/columns.js';
import {
  checkOptional,
  checkQualified,
  checkRequiredOneOf,
  invalidEach,
} from '../../shared/rules.js';
import { validateReachableIp } from '../common/ip-rules.js';

function validateSubset(subset: EndpointSubset, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const addresses = subset.addresses ?? [];
  const notReady = subset.notReadyAddresses ?? [];
  if (addresses.length === 0 && notReady.length === 0) {
    errors.push(fieldError.required(fieldPath, 'must specify `addresses` or `notReadyAddresses`'));
  }
  for (const [index, address] of addresses.entries()) {
    errors.push(...validateAddress(address, fieldPath.child('addresses').index(index)));
  }
  for (const [index, address] of notReady.entries()) {
    errors.push(...validateAddress(address, fieldPath.child('notReadyAddresses').index(index)));
  }
  const ports = subset.ports ?? [];
  for (const [index, port] of ports.entries()) {
    errors.push(...validatePort(port, ports.length > 1, fieldPath.child('ports').index(index)));
  }
  return errors;
}

function validateAddress(address: EndpointAddress, fieldPath: FieldPath): FieldError[] {
  const ip = address.ip ?? '';
  const errors = [
    ...invalidEach(fieldPath.child('ip'), ip, checkIp(ip)),
    ...checkOptional(address.hostname, fieldPath.child('hostname'), checkDns1123Label),
  ];
  const { nodeName } = address;
  if (nodeName !== undefined) {
    const messages = checkDns1123Subdomain(nodeName);
    errors.push(...invalidEach(fieldPath.child('nodeName'), nodeName, messages));
  }
  errors.push(...validateReachableIp(ip, fieldPath.child('ip')));
  return errors;
}

function validatePort(
  port: EndpointPort,
  nameRequired: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!port.name && nameRequired) errors.push(fieldError.required(fieldPath.child('name')));
  errors.push(
    ...checkOptional(port.name, fieldPath.child('name'), checkDns1123Label),
    ...invalidEach(fieldPath.child('port'), port.port ?? 0, checkPortNumber(port.port ?? 0)),
    ...checkRequiredOneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], fieldPath.child('protocol')),
  );
  if (port.appProtocol !== undefined) {
    errors.push(...checkQualified(port.appProtocol, fieldPath.child('appProtocol')));
  }
  return errors;
}

function validateSubsets(object: Endpoints): FieldError[] {
  return (object.subsets ?? []).flatMap((subset, index) =>
    validateSubset(subset, path('subsets').index(index)),
  );
}

const printedAddressCountMax = 3;

/** `ip:port` of the ready addresses: the first three, and the number of the others. */
function endpointsCell(object: Endpoints): string {
  const all: string[] = [];
  for (const subset of object.subsets ?? []) {
    for (const { ip } of subset.addresses ?? []) {
      const host = ip.includes(':') ? `[${ip}]` : ip;
      const ports = subset.ports ?? [];
      if (ports.length === 0) all.push(host);
      for (const { port } of ports) all.push(`${host}:${port}`);
    }
  }
  if (all.length === 0) return none;
  const printed = all.slice(0, printedAddressCountMax).join(',');
  const rest = all.length - printedAddressCountMax;
  return rest > 0 ? `${printed} + ${rest} more...` : printed;
}

export const endpoints = define<Endpoints>({
  plural: 'endpoints',
  singular: '',
  kind: 'Endpoints',
  listKind: 'EndpointsList',
  shortNames: ['ep'],
  namespaced: true,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  validateCreate: validateSubsets,
  // Unchanged subsets are not validated again.
  validateUpdate: (object, old) =>
    semanticallyEqual(object.subsets, old.subsets) ? [] : validateSubsets(object),
  createOnUpdate: true,
  columns: [
    nameColumn(),
    {
      name: 'Endpoints',
      type: 'string',
      description: 'Addresses and ports of ready endpoints.',
      cell: endpointsCell,
    },
    ageColumn(),
  ],
});

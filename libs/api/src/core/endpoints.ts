/** Endpoints: the addresses behind a service, in groups with the same ports. */
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
import { define } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { checkOptional, checkQualified, checkRequiredOneOf, invalidEach } from '../shared/rules.js';
import { validateReachableIp } from './ip-rules.js';

function validateSubset(subset: EndpointSubset, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const addresses = subset.addresses ?? [];
  const notReady = subset.notReadyAddresses ?? [];
  if (addresses.length === 0 && notReady.length === 0) {
    errors.push(fieldError.required(at, 'must specify `addresses` or `notReadyAddresses`'));
  }
  for (const [index, address] of addresses.entries()) {
    errors.push(...validateAddress(address, at.child('addresses').index(index)));
  }
  for (const [index, address] of notReady.entries()) {
    errors.push(...validateAddress(address, at.child('notReadyAddresses').index(index)));
  }
  const ports = subset.ports ?? [];
  for (const [index, port] of ports.entries()) {
    errors.push(...validatePort(port, ports.length > 1, at.child('ports').index(index)));
  }
  return errors;
}

function validateAddress(address: EndpointAddress, at: FieldPath): FieldError[] {
  const ip = address.ip ?? '';
  const errors = [
    ...invalidEach(at.child('ip'), ip, checkIp(ip)),
    ...checkOptional(address.hostname, at.child('hostname'), checkDns1123Label),
  ];
  if (errors.length === 0) {
    errors.push(...checkOptional(address.nodeName, at.child('nodeName'), checkDns1123Subdomain));
  }
  errors.push(...validateReachableIp(ip, at.child('ip')));
  return errors;
}

function validatePort(port: EndpointPort, nameRequired: boolean, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!port.name && nameRequired) errors.push(fieldError.required(at.child('name')));
  errors.push(
    ...checkOptional(port.name, at.child('name'), checkDns1123Label),
    ...invalidEach(at.child('port'), port.port ?? 0, checkPortNumber(port.port ?? 0)),
    ...checkRequiredOneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], at.child('protocol')),
  );
  if (port.appProtocol !== undefined) {
    errors.push(...checkQualified(port.appProtocol, at.child('appProtocol')));
  }
  return errors;
}

function validateSubsets(object: Endpoints): FieldError[] {
  return (object.subsets ?? []).flatMap((subset, index) =>
    validateSubset(subset, path('subsets').index(index)),
  );
}

const shownAddressCountMax = 3;

/** `ip:port` of the ready addresses, the first three and how many more there are. */
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
  const shown = all.slice(0, shownAddressCountMax).join(',');
  const rest = all.length - shownAddressCountMax;
  return rest > 0 ? `${shown} + ${rest} more...` : shown;
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
  // What was stored once is not looked at again.
  validateUpdate: (object, old) =>
    semanticallyEqual(object.subsets, old.subsets) ? [] : validateSubsets(object),
  createOnUpdate: true,
  columns: [
    nameColumn(),
    {
      name: 'Endpoints',
      type: 'string',
      description: 'Ready addresses with their ports.',
      cell: endpointsCell,
    },
    ageColumn(),
  ],
});

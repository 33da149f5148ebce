/** NetworkPolicy: the peers that selected pods may communicate with. */
import { BlockList, isIPv4 } from 'node:net';
import {
  checkPortName,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
  isCidr,
  path,
  semanticallyEqual,
  validateLabelSelector,
} from '@orch/apimachinery';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '@orch/types/networking/v1';
import { selectorText } from '../core/template/pod-template.js';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkOneOf, invalidEach } from '../shared/rules.js';

const policyTypes = ['Ingress', 'Egress'];

function setPolicyTypes({ spec }: NetworkPolicy): void {
  if (!spec || spec.policyTypes?.length) return;
  spec.policyTypes = spec.egress?.length ? [...policyTypes] : ['Ingress'];
}

function validatePolicy({ spec }: NetworkPolicy): FieldError[] {
  const fieldPath = path('spec');
  const errors = validateLabelSelector(spec?.podSelector, fieldPath.child('podSelector'));
  for (const [index, { ports, from }] of (spec?.ingress ?? []).entries()) {
    errors.push(...validateRule(ports, from, fieldPath.child('ingress').index(index), 'from'));
  }
  for (const [index, { ports, to }] of (spec?.egress ?? []).entries()) {
    errors.push(...validateRule(ports, to, fieldPath.child('egress').index(index), 'to'));
  }
  const types = spec?.policyTypes ?? [];
  const typesAt = fieldPath.child('policyTypes');
  if (types.length > policyTypes.length) {
    errors.push(fieldError.invalid(typesAt, types, 'may not specify more than two policyTypes'));
    return errors;
  }
  for (const [index, type] of types.entries()) {
    errors.push(...checkOneOf(type, policyTypes, typesAt.index(index)));
  }
  return errors;
}

function validateRule(
  ports: readonly NetworkPolicyPort[] | undefined,
  peers: readonly NetworkPolicyPeer[] | undefined,
  fieldPath: FieldPath,
  peersField: string,
): FieldError[] {
  return [
    ...(ports ?? []).flatMap((port, index) =>
      validatePort(port, fieldPath.child('ports').index(index)),
    ),
    ...(peers ?? []).flatMap((peer, index) =>
      validatePeer(peer, fieldPath.child(peersField).index(index)),
    ),
  ];
}

function validatePort(
  { protocol, port, endPort }: NetworkPolicyPort,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (protocol !== undefined) {
    errors.push(...checkOneOf(protocol, ['TCP', 'UDP', 'SCTP'], fieldPath.child('protocol')));
  }
  if (port !== undefined) {
    const messages = typeof port === 'number' ? checkPortNumber(port) : checkPortName(port);
    errors.push(...invalidEach(fieldPath.child('port'), port, messages));
  }
  if (endPort === undefined) return errors;
  return [...errors, ...validateEndPort(port, endPort, fieldPath.child('endPort'))];
}

function validateEndPort(
  port: NetworkPolicyPort['port'],
  endPort: number,
  fieldPath: FieldPath,
): FieldError[] {
  if (port === undefined) {
    return [
      fieldError.invalid(fieldPath, endPort, 'may not be specified when `port` is not specified'),
    ];
  }
  if (typeof port !== 'number') {
    return [
      fieldError.invalid(fieldPath, endPort, 'may not be specified when `port` is non-numeric'),
    ];
  }
  const errors: FieldError[] = [];
  if (endPort < port) {
    errors.push(fieldError.invalid(fieldPath, endPort, 'must be greater than or equal to `port`'));
  }
  return [...errors, ...invalidEach(fieldPath, endPort, checkPortNumber(endPort))];
}

function validatePeer(peer: NetworkPolicyPeer, fieldPath: FieldPath): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...validateLabelSelector(podSelector, fieldPath.child('podSelector')),
    ...validateLabelSelector(namespaceSelector, fieldPath.child('namespaceSelector')),
    ...(ipBlock ? validateIpBlock(ipBlock, fieldPath.child('ipBlock')) : []),
  ];
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && !ipBlock) errors.push(fieldError.required(fieldPath, 'must specify a peer'));
  if (selects && ipBlock) {
    errors.push(fieldError.forbidden(fieldPath, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

const notCidr = 'not a valid CIDR';

function validateIpBlock({ cidr, except }: IPBlock, fieldPath: FieldPath): FieldError[] {
  const cidrAt = fieldPath.child('cidr');
  if (!cidr) return [fieldError.required(cidrAt)];
  if (!isCidr(cidr)) return [fieldError.invalid(cidrAt, cidr, notCidr)];
  const errors: FieldError[] = [];
  for (const [index, part] of (except ?? []).entries()) {
    const field = fieldPath.child('except').index(index);
    if (!isCidr(part)) return [...errors, fieldError.invalid(field, part, notCidr)];
    if (!isStrictSubset(part, cidr)) {
      errors.push(fieldError.invalid(field, part, 'must be a strict subset of `cidr`'));
    }
  }
  return errors;
}

function isStrictSubset(part: string, whole: string): boolean {
  const [partAddress = '', partLength] = part.split('/');
  const [address = '', length] = whole.split('/');
  if (isIPv4(partAddress) !== isIPv4(address)) return false;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, Number(length), family);
  return list.check(partAddress, family) && Number(partLength) > Number(length);
}

export const networkPolicy = define<NetworkPolicy>({
  plural: 'networkpolicies',
  singular: '',
  kind: 'NetworkPolicy',
  shortNames: ['netpol'],
  namespaced: true,
  versions: [
    { group: 'networking', version: 'v1', setDefaults: (object) => setPolicyTypes(object) },
  ],
  stored: { group: 'networking', version: 'v1' },
  errorGroup: 'extensions',
  hasGeneration: true,
  gatedFields: ['ingress', 'egress'].map((rules) => ({
    gate: 'NetworkPolicyEndPort',
    path: `spec.${rules}[].ports[].endPort`,
  })),
  prepareForUpdate(object, old) {
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validatePolicy,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'object'],
  columns: [
    nameColumn(),
    {
      name: 'Pod-Selector',
      type: 'string',
      description: 'Label selector of the pods.',
      cell: (object) => selectorText(object.spec?.podSelector),
    },
    ageColumn(),
  ],
});

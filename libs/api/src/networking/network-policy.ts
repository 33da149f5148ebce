/** NetworkPolicy: which peers the pods it selects may talk with. */
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
import { selectorText } from '../core/pod-template.js';
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
  const at = path('spec');
  const errors = validateLabelSelector(spec?.podSelector, at.child('podSelector'));
  for (const [index, { ports, from }] of (spec?.ingress ?? []).entries()) {
    errors.push(...validateRule(ports, from, at.child('ingress').index(index), 'from'));
  }
  for (const [index, { ports, to }] of (spec?.egress ?? []).entries()) {
    errors.push(...validateRule(ports, to, at.child('egress').index(index), 'to'));
  }
  const types = spec?.policyTypes ?? [];
  const typesAt = at.child('policyTypes');
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
  at: FieldPath,
  peersField: string,
): FieldError[] {
  return [
    ...(ports ?? []).flatMap((port, index) => validatePort(port, at.child('ports').index(index))),
    ...(peers ?? []).flatMap((peer, index) =>
      validatePeer(peer, at.child(peersField).index(index)),
    ),
  ];
}

function validatePort({ protocol, port }: NetworkPolicyPort, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (protocol !== undefined) {
    errors.push(...checkOneOf(protocol, ['TCP', 'UDP', 'SCTP'], at.child('protocol')));
  }
  if (port === undefined) return errors;
  const messages = typeof port === 'number' ? checkPortNumber(port) : checkPortName(port);
  return [...errors, ...invalidEach(at.child('port'), port, messages)];
}

function validatePeer(peer: NetworkPolicyPeer, at: FieldPath): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...validateLabelSelector(podSelector, at.child('podSelector')),
    ...validateLabelSelector(namespaceSelector, at.child('namespaceSelector')),
    ...(ipBlock ? validateIpBlock(ipBlock, at.child('ipBlock')) : []),
  ];
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && !ipBlock) errors.push(fieldError.required(at, 'must specify a peer'));
  if (selects && ipBlock) {
    errors.push(fieldError.forbidden(at, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

const notCidr = 'not a valid CIDR';

function validateIpBlock({ cidr, except }: IPBlock, at: FieldPath): FieldError[] {
  const cidrAt = at.child('cidr');
  if (!cidr) return [fieldError.required(cidrAt)];
  if (!isCidr(cidr)) return [fieldError.invalid(cidrAt, cidr, notCidr)];
  const errors: FieldError[] = [];
  for (const [index, part] of (except ?? []).entries()) {
    const field = at.child('except').index(index);
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
  // There are no ranges of ports.
  gatedFields: [
    { path: 'spec.ingress[].ports[].endPort' },
    { path: 'spec.egress[].ports[].endPort' },
  ],
  prepareForUpdate(object, old) {
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validate: validatePolicy,
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate: validatePolicy,
  columns: [
    nameColumn(),
    {
      name: 'Pod-Selector',
      type: 'string',
      description: 'Labels of the pods it is about.',
      cell: (object) => selectorText(object.spec?.podSelector),
    },
    ageColumn(),
  ],
});

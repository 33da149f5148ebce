/**
 * Ingress: routes external requests to services by host and path; served in two groups with one
 * storage.
 */
import { fieldError, path, semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Ingress } from '@orch/types/networking/v1';
import { validateBalancerStatus } from '../core/service/service-validation.js';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { replacedBy } from '../shared/versions.js';
import { ingressFromStored, ingressToStored } from './ingress-conversion.js';
import { validateIngress } from './ingress-validation.js';

/** The deprecated annotation for the class must not be combined with the field. */
function validateClassAnnotation({ metadata, spec }: Ingress) {
  const key = dialect().key('ingress.class');
  const value = metadata?.annotations?.[key];
  return value === undefined || spec?.ingressClassName === undefined
    ? []
    : [
        fieldError.invalid(
          path('annotations', key),
          value,
          'can not be set when the class field is also set',
        ),
      ];
}

const printedHostCountMax = 3;

/** The hosts of the first three rules, and the number of the others. */
function hostsCell({ spec }: Ingress): string {
  const rules = spec?.rules ?? [];
  const hosts: string[] = [];
  let more = false;
  for (const { host } of rules) {
    if (hosts.length === printedHostCountMax) more = true;
    else if (host) hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  const printedHosts = hosts.join(',');
  return more ? `${printedHosts} + ${rules.length - printedHostCountMax} more...` : printedHosts;
}

function addressCell({ status }: Ingress): string {
  return (status?.loadBalancer?.ingress ?? [])
    .map(({ ip, hostname }) => ip || hostname || '')
    .filter((address) => address !== '')
    .join(',');
}

const columns: readonly TableColumn<Ingress>[] = [
  nameColumn(),
  {
    name: 'Class',
    type: 'string',
    description: 'Ingress class.',
    cell: (object) => object.spec?.ingressClassName ?? none,
  },
  { name: 'Hosts', type: 'string', description: 'Hosts of the ingress.', cell: hostsCell },
  {
    name: 'Address',
    type: 'string',
    description: 'Addresses of the load balancer.',
    cell: addressCell,
  },
  {
    name: 'Ports',
    type: 'string',
    description: 'Ports of the ingress.',
    cell: (object) => (object.spec?.tls?.length ? '80, 443' : '80'),
  },
  ageColumn(),
];

const conversion = { toStored: ingressToStored, fromStored: ingressFromStored };
const replaced = (since: string) =>
  replacedBy('networking', 'v1', 'Ingress', { since, unavailableFrom: '1.22' });

export const ingress = define<Ingress>({
  plural: 'ingresses',
  singular: '',
  kind: 'Ingress',
  shortNames: ['ing'],
  namespaced: true,
  versions: [
    { group: 'networking', version: 'v1' },
    { group: 'networking', version: 'v1beta1', ...conversion, deprecation: replaced('1.19') },
    { group: 'extensions', version: 'v1beta1', ...conversion, deprecation: replaced('1.14') },
  ],
  stored: { group: 'networking', version: 'v1' },
  errorGroup: 'extensions',
  hasGeneration: true,
  prepareForCreate(object) {
    object.status = { loadBalancer: {} };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
  },
  validateCreate: (object, context) => [
    ...validateIngress(object, undefined, context),
    ...validateClassAnnotation(object),
  ],
  validateUpdate: validateIngress,
  columns,
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
    validateUpdate: ({ status }) =>
      validateBalancerStatus(status?.loadBalancer, path('status', 'loadBalancer')),
  },
});

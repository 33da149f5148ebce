/** Service: one address in front of many pods. */
import { label1035Name } from '@orch/apimachinery';
import type { Service } from '@orch/types/core/v1';
import { define, type TableColumn } from '../../definition.js';
import { ageColumn, mapCell, nameColumn, none, textOrNone } from '../../shared/columns.js';
import { allocateService } from './service-allocation.js';
import { validateServiceUpdate } from './service-ip-validation.js';
import {
  gatedServiceFields,
  prepareServiceForCreate,
  prepareServiceForUpdate,
  setServiceDefaults,
} from './service-preparation.js';
import {
  validateBalancerClassUpdate,
  validateProtocols,
  validateService,
  validateServiceStatus,
} from './service-validation.js';

function externalCell(object: Service): string {
  const { spec, status } = object;
  const given = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ExternalName':
      return textOrNone(spec.externalName);
    case 'LoadBalancer': {
      const ingress = status?.loadBalancer?.ingress ?? [];
      const balanced = ingress.map(({ ip, hostname }) => ip || hostname || '');
      const all = [...balanced.filter((address) => address !== ''), ...given];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    default:
      return textOrNone(given.join(','));
  }
}

function portsCell(object: Service): string {
  const texts = (object.spec?.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return textOrNone(texts.join(','));
}

const columns: readonly TableColumn<Service>[] = [
  nameColumn(),
  {
    name: 'Type',
    type: 'string',
    description: 'Type of the service.',
    cell: (object) => object.spec?.type ?? '',
  },
  {
    name: 'Cluster-IP',
    type: 'string',
    description: 'Cluster IP address.',
    cell: (object) => object.spec?.clusterIPs?.[0] ?? none,
  },
  {
    name: 'External-IP',
    type: 'string',
    description: 'External addresses.',
    cell: externalCell,
  },
  {
    name: 'Port(s)',
    type: 'string',
    description: 'Ports and node ports.',
    cell: portsCell,
  },
  ageColumn(),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Label selector of the pods.',
    cell: (object) => mapCell(object.spec?.selector),
  },
];

export const service = define<Service>({
  plural: 'services',
  singular: '',
  kind: 'Service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: [{ group: 'core', version: 'v1', setDefaults: setServiceDefaults }],
  stored: { group: 'core', version: 'v1' },
  validateName: label1035Name,
  gatedFields: gatedServiceFields,
  prepareForCreate: prepareServiceForCreate,
  prepareForUpdate: prepareServiceForUpdate,
  validate: validateService,
  updateChecks: ['metadataUpdate', 'update', 'metadata', 'object'],
  validateCreate: (object, { features }) =>
    features.enabled('MixedProtocolLBService') ? [] : validateProtocols(object),
  validateUpdate: (object, old, { features }) => [
    ...validateServiceUpdate(object, old),
    ...(features.enabled('MixedProtocolLBService') ? [] : validateProtocols(object, old)),
    ...validateBalancerClassUpdate(object, old),
  ],
  allocate: allocateService,
  // The metadata rules reject an update without resourceVersion.
  unconditionalUpdate: false,
  columns,
  status: {
    prepareForUpdate(object, old) {
      // Allocation fills values into the spec, and the stored object must not change.
      object.spec = structuredClone(old.spec);
    },
    validateUpdate: validateServiceStatus,
  },
});

/** Node: a machine that runs pods. */
import { conditionOf, deepCopy } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { define, type TableColumn } from '../../definition.js';
import { ageColumn, nameColumn, none, textOrNone } from '../../shared/columns.js';
import { firstOnly } from '../../shared/gated-fields.js';
import { validateNode, validateNodeUpdate } from './node-validation.js';

/** The single CIDR equals the first of the list; if they differ, the single one wins. */
function setNodeDefaults(object: Node): void {
  const { spec, status } = object;
  if (spec) {
    if (spec.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR];
    else if (spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0];
  }
  if (status?.capacity && !status.allocatable) status.allocatable = deepCopy(status.capacity);
}

function statusCell(object: Node): string {
  const ready = conditionOf(object.status?.conditions, 'Ready');
  const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (object.spec?.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

/** The roles in the labels `node-role.<domain>/<role>` and `<domain>/role`. */
function rolesCell(object: Node): string {
  const prefix = dialect().key('', 'node-role');
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(object.metadata?.labels ?? {})) {
    if (label.startsWith(prefix) && label.length > prefix.length) {
      roles.add(label.slice(prefix.length));
    } else if (label === dialect().key('role') && value !== '') roles.add(value);
  }
  return textOrNone([...roles].sort().join(','));
}

function addressCell(object: Node, type: string): string {
  return textOrNone(
    object.status?.addresses?.find((address) => address.type === type)?.address ?? none,
  );
}

const unknown = '<unknown>';

const columns: readonly TableColumn<Node>[] = [
  nameColumn(),
  {
    name: 'Status',
    type: 'string',
    description: 'Whether the node is ready, and whether it is schedulable.',
    cell: statusCell,
  },
  {
    name: 'Roles',
    type: 'string',
    description: 'Roles from the labels of the node.',
    cell: rolesCell,
  },
  ageColumn(),
  {
    name: 'Version',
    type: 'string',
    description: 'Version of the node agent.',
    cell: (object) => object.status?.nodeInfo?.kubeletVersion ?? '',
  },
  {
    name: 'Internal-IP',
    type: 'string',
    priority: 1,
    description: 'Cluster IP address.',
    cell: (object) => addressCell(object, 'InternalIP'),
  },
  {
    name: 'External-IP',
    type: 'string',
    priority: 1,
    description: 'External address.',
    cell: (object) => addressCell(object, 'ExternalIP'),
  },
  {
    name: 'OS-Image',
    type: 'string',
    priority: 1,
    description: 'Operating system of the node.',
    cell: (object) => object.status?.nodeInfo?.osImage || unknown,
  },
  {
    name: 'Kernel-Version',
    type: 'string',
    priority: 1,
    description: 'Version of the kernel.',
    cell: (object) => object.status?.nodeInfo?.kernelVersion || unknown,
  },
  {
    name: 'Container-Runtime',
    type: 'string',
    priority: 1,
    description: 'Container runtime and its version.',
    cell: (object) => object.status?.nodeInfo?.containerRuntimeVersion || unknown,
  },
];

export const node = define<Node>({
  plural: 'nodes',
  singular: '',
  kind: 'Node',
  shortNames: ['no'],
  namespaced: false,
  versions: [{ group: 'core', version: 'v1', setDefaults: (object) => setNodeDefaults(object) }],
  stored: { group: 'core', version: 'v1' },
  gatedFields: [
    { gate: 'DynamicKubeletConfig', path: 'spec.configSource' },
    { gate: 'DynamicKubeletConfig', path: 'status.config' },
    { gate: 'IPv6DualStack', path: 'spec.podCIDRs', off: firstOnly },
  ],
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate: validateNode,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'update'],
  validateUpdate: validateNodeUpdate,
  columns,
  selectableFields: {
    'spec.unschedulable': (object) => String(object.spec?.unschedulable ?? false),
  },
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
    validateUpdate: validateNodeUpdate,
  },
});

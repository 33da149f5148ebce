/** EndpointSlice: some addresses behind a service, with one address family and one set of ports. */
import { immutable, path, semanticallyEqual } from '@orch/apimachinery';
import type { EndpointSlice } from '@orch/types/discovery/v1beta1';
import { define, type StrategyContext, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { dropEmptyLists } from '../shared/empty-lists.js';
import { countGeneration } from '../shared/generation.js';
import { replacedBy } from '../shared/versions.js';
import { sliceFromStored, sliceToStored } from './endpoint-slice-conversion.js';
import { validateSlice } from './endpoint-slice-validation.js';

/** Stores zone and node in the topology, whatever the version of the request. */
function completeTopology(object: EndpointSlice): void {
  if (object.endpoints) object.endpoints = sliceToStored(sliceFromStored(object)).endpoints;
}

/** Only the older version can set custom topology. */
function dropTopology(
  object: EndpointSlice,
  old: EndpointSlice | undefined,
  { requestVersion }: StrategyContext,
): void {
  if (requestVersion?.version !== 'v1') return;
  if (old && semanticallyEqual(object.endpoints, old.endpoints)) return;
  const view = sliceFromStored(object);
  for (const endpoint of view.endpoints ?? []) delete endpoint.deprecatedTopology;
  if (view.endpoints) object.endpoints = sliceToStored(view).endpoints;
}

function prepare(
  object: EndpointSlice,
  old: EndpointSlice | undefined,
  context: StrategyContext,
): void {
  dropTopology(object, old, context);
  dropEmptyLists(object, 'endpoints', 'ports');
}

const contentOf = ({ metadata, ...content }: EndpointSlice) => ({
  ...content,
  labels: metadata?.labels ?? {},
});

const printedCountMax = 3;

function shortList(texts: readonly string[]): string {
  if (texts.length === 0) return '<unset>';
  const printed = texts.slice(0, printedCountMax).join(',');
  const rest = texts.length - printedCountMax;
  return rest > 0 ? `${printed} + ${rest} more...` : printed;
}

const columns: readonly TableColumn<EndpointSlice>[] = [
  nameColumn(),
  {
    name: 'AddressType',
    type: 'string',
    description: 'Family of the addresses.',
    cell: (object) => object.addressType ?? '',
  },
  {
    name: 'Ports',
    type: 'string',
    description: 'The first three ports.',
    cell: ({ ports }) =>
      shortList((ports ?? []).map(({ port, name }) => String(port ?? (name || '*')))),
  },
  {
    name: 'Endpoints',
    type: 'string',
    description: 'The first three addresses.',
    cell: ({ endpoints }) =>
      shortList((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  },
  ageColumn(),
];

export const endpointSlice = define<EndpointSlice>({
  plural: 'endpointslices',
  singular: '',
  kind: 'EndpointSlice',
  namespaced: true,
  versions: [
    {
      group: 'discovery',
      version: 'v1',
      toStored: sliceToStored,
      fromStored: sliceFromStored,
    },
    {
      group: 'discovery',
      version: 'v1beta1',
      setDefaults: completeTopology,
      deprecation: replacedBy('discovery', 'v1', 'EndpointSlice', {
        since: '1.21',
        unavailableFrom: '1.25',
      }),
    },
  ],
  stored: { group: 'discovery', version: 'v1beta1' },
  hasGeneration: true,
  gatedFields: [
    { gate: 'EndpointSliceTerminatingCondition', path: 'endpoints[].conditions.serving' },
    { gate: 'EndpointSliceTerminatingCondition', path: 'endpoints[].conditions.terminating' },
    { gate: 'TopologyAwareHints', path: 'endpoints[].hints' },
  ],
  prepareForCreate: (object, context) => prepare(object, undefined, context),
  prepareForUpdate(object, old, context) {
    prepare(object, old, context);
    if (!semanticallyEqual(contentOf(object), contentOf(old))) countGeneration(object);
  },
  validate: (object) => validateSlice(sliceFromStored(object)),
  updateChecks: ['metadata', 'object', 'update'],
  validateUpdate: (object, old) =>
    object.addressType === old.addressType
      ? []
      : [immutable(path('addressType'), object.addressType)],
  columns,
});

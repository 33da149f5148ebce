/** EndpointSlice: some of the addresses behind a service, all of one family and with the same ports. */
import { immutable, path, semanticallyEqual } from '@orch/apimachinery';
import type { EndpointSlice } from '@orch/types/discovery/v1beta1';
import { define, type RequestContext, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { dropEmptyLists } from '../shared/empty-lists.js';
import { countGeneration } from '../shared/generation.js';
import { replacedBy } from '../shared/versions.js';
import { sliceFromStored, sliceToStored } from './endpoint-slice-conversion.js';
import { validateSlice } from './endpoint-slice-validation.js';

/** Zone and node stand in the topology, whichever version they were written in. */
function completeTopology(object: EndpointSlice): void {
  if (object.endpoints) object.endpoints = sliceToStored(sliceFromStored(object)).endpoints;
}

/** Topology of its own can be written in the older version only. */
function dropTopology(
  object: EndpointSlice,
  old: EndpointSlice | undefined,
  { requestVersion }: RequestContext,
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
  context: RequestContext,
): void {
  dropTopology(object, old, context);
  dropEmptyLists(object, 'endpoints', 'ports');
}

const contentOf = ({ metadata, ...content }: EndpointSlice) => ({
  ...content,
  labels: metadata?.labels ?? {},
});

const shownCountMax = 3;

function shortList(texts: readonly string[]): string {
  if (texts.length === 0) return '<unset>';
  const shown = texts.slice(0, shownCountMax).join(',');
  const rest = texts.length - shownCountMax;
  return rest > 0 ? `${shown} + ${rest} more...` : shown;
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
    description: 'Ports of the endpoints, the first three.',
    cell: ({ ports }) =>
      shortList((ports ?? []).map(({ port, name }) => String(port ?? (name || '*')))),
  },
  {
    name: 'Endpoints',
    type: 'string',
    description: 'Addresses, the first three.',
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
      setDefaults: (object) => completeTopology(object as EndpointSlice),
      deprecation: replacedBy('discovery', 'v1', 'EndpointSlice', {
        since: '1.21',
        unavailableFrom: '1.25',
      }),
    },
  ],
  stored: { group: 'discovery', version: 'v1beta1' },
  hasGeneration: true,
  // Endpoints that go away are not told apart, and there are no hints.
  gatedFields: [
    { path: 'endpoints[].conditions.serving' },
    { path: 'endpoints[].conditions.terminating' },
    { path: 'endpoints[].hints' },
  ],
  prepareForCreate: (object, context) => prepare(object, undefined, context),
  prepareForUpdate(object, old, context) {
    prepare(object, old, context);
    if (!semanticallyEqual(contentOf(object), contentOf(old))) countGeneration(object);
  },
  validate: (object) => validateSlice(sliceFromStored(object)),
  validateUpdate: (object, old) =>
    object.addressType === old.addressType
      ? []
      : [immutable(path('addressType'), object.addressType)],
  columns,
});

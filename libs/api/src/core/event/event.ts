/** Event: something that happened to an object. Served in two groups with one storage; expires. */
import { ageCell } from '@orch/apimachinery';
import type { Event } from '@orch/types/core/v1';
import { define, type TableColumn } from '../../definition.js';
import { nameColumn } from '../../shared/columns.js';
import { eventFromStored, eventToStored } from './event-conversion.js';
import { validateEvent, validateEventCreate } from './event-validation.js';

const keptForMs = 60 * 60 * 1000;

const newLabels = {
  reportingController: 'reportingComponent',
  'regarding.kind': 'involvedObject.kind',
  'regarding.namespace': 'involvedObject.namespace',
  'regarding.name': 'involvedObject.name',
  'regarding.uid': 'involvedObject.uid',
  'regarding.apiVersion': 'involvedObject.apiVersion',
  'regarding.resourceVersion': 'involvedObject.resourceVersion',
  'regarding.fieldPath': 'involvedObject.fieldPath',
};

function firstSeen(object: Event): string | undefined {
  return object.firstTimestamp ?? object.eventTime;
}

function lastSeen(object: Event): string | undefined {
  return object.series?.lastObservedTime ?? object.lastTimestamp ?? firstSeen(object);
}

function eventCount(object: Event): number {
  return object.series ? (object.series.count ?? 0) : object.count || 1;
}

function targetCell({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? '').toLowerCase();
  return involvedObject.name ? `${kind}/${involvedObject.name}` : kind;
}

function sourceCell(object: Event): string {
  const component = object.source?.component || object.reportingComponent || '';
  const host = object.source?.host || object.reportingInstance;
  return host ? `${component}, ${host}` : component;
}

const columns: readonly TableColumn<Event>[] = [
  {
    name: 'Last Seen',
    type: 'string',
    description: 'Time since the last occurrence.',
    cell: (object, nowMs) => ageCell(lastSeen(object), nowMs),
  },
  {
    name: 'Type',
    type: 'string',
    description: '`Normal` or `Warning`.',
    cell: (object) => object.type ?? '',
  },
  {
    name: 'Reason',
    type: 'string',
    description: 'Reason in one word.',
    cell: (object) => object.reason ?? '',
  },
  {
    name: 'Object',
    type: 'string',
    description: 'Object of the event.',
    cell: targetCell,
  },
  {
    name: 'Subobject',
    type: 'string',
    priority: 1,
    description: 'Field path in the object.',
    cell: (object) => object.involvedObject.fieldPath ?? '',
  },
  {
    name: 'Source',
    type: 'string',
    priority: 1,
    description: 'Component that reported the event.',
    cell: sourceCell,
  },
  {
    name: 'Message',
    type: 'string',
    description: 'Description of the event.',
    cell: (object) => (object.message ?? '').trim(),
  },
  {
    name: 'First Seen',
    type: 'string',
    priority: 1,
    description: 'Time since the first occurrence.',
    cell: (object, nowMs) => ageCell(firstSeen(object), nowMs),
  },
  {
    name: 'Count',
    type: 'string',
    priority: 1,
    description: 'Number of occurrences.',
    cell: eventCount,
  },
  nameColumn(1),
];

export const event = define<Event>({
  plural: 'events',
  singular: '',
  kind: 'Event',
  shortNames: ['ev'],
  namespaced: true,
  versions: [
    { group: 'core', version: 'v1' },
    {
      group: 'events',
      version: 'v1',
      toStored: eventToStored,
      fromStored: eventFromStored,
      selectableFieldAliases: newLabels,
    },
    {
      group: 'events',
      version: 'v1beta1',
      toStored: eventToStored,
      fromStored: eventFromStored,
      selectableFieldAliases: newLabels,
    },
  ],
  stored: { group: 'core', version: 'v1' },
  errorGroup: 'core',
  createChecks: ['object'],
  validateCreate: validateEventCreate,
  updateChecks: ['update'],
  validateUpdate: validateEvent,
  createOnUpdate: true,
  defaultPropagation: 'unsupported',
  timeToLiveMs: keptForMs,
  columns,
  selectableFields: {
    type: (object) => object.type ?? '',
    reason: (object) => object.reason ?? '',
    reportingComponent: (object) => object.reportingComponent ?? '',
    source: (object) => object.source?.component || object.reportingComponent || '',
    'involvedObject.kind': (object) => object.involvedObject.kind ?? '',
    'involvedObject.namespace': (object) => object.involvedObject.namespace ?? '',
    'involvedObject.name': (object) => object.involvedObject.name ?? '',
    'involvedObject.uid': (object) => object.involvedObject.uid ?? '',
    'involvedObject.apiVersion': (object) => object.involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': (object) => object.involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': (object) => object.involvedObject.fieldPath ?? '',
  },
});

/** What the tables of volumes and of claims show alike. */
import type { ApiObject, TableColumn } from '../definition.js';
import { classAnnotation } from './claim-validation.js';

const shortModes: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
];

/** Each mode once, in a fixed order. */
export function accessModesCell(modes: readonly string[] | undefined): string {
  return shortModes
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

interface HasVolumeSpec extends ApiObject {
  readonly spec?: { readonly storageClassName?: string; readonly volumeMode?: string };
  readonly status?: { readonly phase?: string };
}

export function volumeStatusColumn<T extends HasVolumeSpec>(): TableColumn<T> {
  return {
    name: 'Status',
    type: 'string',
    description: 'Whether it is bound, and whether it is going away.',
    cell: ({ metadata, status }) =>
      metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
  };
}

export function storageClassColumn<T extends HasVolumeSpec>(): TableColumn<T> {
  return {
    name: 'StorageClass',
    type: 'string',
    description: 'Class of storage.',
    cell: ({ metadata, spec }) =>
      metadata?.annotations?.[classAnnotation()] ?? spec?.storageClassName ?? '',
  };
}

export function volumeModeColumn<T extends HasVolumeSpec>(): TableColumn<T> {
  return {
    name: 'VolumeMode',
    type: 'string',
    priority: 1,
    description: 'A file system or a raw device.',
    cell: ({ spec }) => spec?.volumeMode ?? '<unset>',
  };
}

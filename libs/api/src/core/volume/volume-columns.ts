/** Table columns that volumes and claims share. */
import { storageClassKey } from '@orch/apimachinery';
import type { ApiObject, TableColumn } from '../../definition.js';

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
    description: 'Phase, and whether the object is being deleted.',
    cell: ({ metadata, status }) =>
      metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
  };
}

export function storageClassColumn<T extends HasVolumeSpec>(): TableColumn<T> {
  return {
    name: 'StorageClass',
    type: 'string',
    description: 'Storage class.',
    cell: ({ metadata, spec }) =>
      metadata?.annotations?.[storageClassKey()] ?? spec?.storageClassName ?? '',
  };
}

export function volumeModeColumn<T extends HasVolumeSpec>(): TableColumn<T> {
  return {
    name: 'VolumeMode',
    type: 'string',
    priority: 1,
    description: 'Volume mode: file system or block device.',
    cell: ({ spec }) => spec?.volumeMode ?? '<unset>',
  };
}

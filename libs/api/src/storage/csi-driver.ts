/** CSIDriver: what a storage driver can do and needs to be told. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { CSIDriver, CSIDriverSpec, TokenRequest } from '@orch/types/storage/v1';
import { define, type TableColumn } from '../definition.js';
import { ageColumn, nameColumn, textOrNone } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { checkOneOf } from '../shared/rules.js';
import { storageGroup, storageVersions } from './versions.js';

const expirationSecondsMin = 600;
const expirationSecondsMax = 2 ** 32;

type Field = keyof CSIDriverSpec;

const at = path('spec');

/** Errors name the attachment field in a way of their own. */
const shownAt = (field: Field) => at.child(field === 'attachRequired' ? 'attachedRequired' : field);

function validateDriver({ spec = {} }: CSIDriver): FieldError[] {
  const required = (['attachRequired', 'podInfoOnMount', 'storageCapacity'] as const)
    .filter((field) => spec[field] === undefined)
    .map((field) => fieldError.required(shownAt(field)));
  const policies = ['File', 'None', 'ReadWriteOnceWithFSType'];
  return [
    ...required,
    ...(spec.fsGroupPolicy === undefined
      ? []
      : checkOneOf(spec.fsGroupPolicy, policies, at.child('fsGroupPolicy'))),
    ...validateTokenRequests(spec.tokenRequests ?? [], at.child('tokenRequests')),
    ...(spec.volumeLifecycleModes ?? []).flatMap((mode) =>
      checkOneOf(mode, ['Persistent', 'Ephemeral'], at.child('volumeLifecycleModes')),
    ),
  ];
}

function validateTokenRequests(requests: readonly TokenRequest[], field: FieldPath): FieldError[] {
  const audiences = new Set<string>();
  return requests.flatMap(({ audience, expirationSeconds: seconds }, index) => {
    if (audiences.has(audience)) {
      return [fieldError.duplicate(field.index(index).child('audience'), audience)];
    }
    audiences.add(audience);
    const secondsAt = field.index(index).child('expirationSeconds');
    if (seconds !== undefined && Number(seconds) < expirationSecondsMin) {
      const detail = 'may not specify a duration less than 10 minutes';
      return [fieldError.invalid(secondsAt, seconds, detail)];
    }
    if (seconds !== undefined && Number(seconds) > expirationSecondsMax) {
      const detail = 'may not specify a duration larger than 2^32 seconds';
      return [fieldError.invalid(secondsAt, seconds, detail)];
    }
    return [];
  });
}

const fixed = [
  'attachRequired',
  'fsGroupPolicy',
  'podInfoOnMount',
  'volumeLifecycleModes',
  'storageCapacity',
] as const;

/** What the driver is stays; only which tokens it gets may change. */
function validateDriverUpdate({ spec = {} }: CSIDriver, old: CSIDriver): FieldError[] {
  return [
    ...fixed
      .filter((field) => !semanticallyEqual(spec[field], old.spec?.[field]))
      .map((field) => immutable(shownAt(field), spec[field])),
    ...validateTokenRequests(spec.tokenRequests ?? [], at.child('tokenRequests')),
  ];
}

function flagColumn(
  name: string,
  field: 'attachRequired' | 'podInfoOnMount' | 'storageCapacity',
  description: string,
): TableColumn<CSIDriver> {
  const unset = field === 'attachRequired';
  return { name, type: 'boolean', description, cell: ({ spec }) => spec?.[field] ?? unset };
}

export const csiDriver = define<CSIDriver>({
  plural: 'csidrivers',
  singular: '',
  kind: 'CSIDriver',
  namespaced: false,
  versions: storageVersions('CSIDriver', '1.19'),
  stored: { group: storageGroup, version: 'v1' },
  prepareForUpdate(object, old) {
    const changed = (['tokenRequests', 'requiresRepublish'] as const).some(
      (field) => !semanticallyEqual(object.spec?.[field], old.spec?.[field]),
    );
    if (changed) countGeneration(object);
  },
  validateCreate: validateDriver,
  validateUpdate: validateDriverUpdate,
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    flagColumn('AttachRequired', 'attachRequired', 'Whether volumes are attached to nodes first.'),
    flagColumn('PodInfoOnMount', 'podInfoOnMount', 'Whether it is told for which pod it mounts.'),
    flagColumn('StorageCapacity', 'storageCapacity', 'Whether it says where it has room.'),
    {
      name: 'TokenRequests',
      type: 'string',
      description: 'Audiences of the tokens it is given.',
      cell: ({ spec }) =>
        spec?.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
    },
    {
      name: 'RequiresRepublish',
      type: 'boolean',
      description: 'Whether mounts are renewed from time to time.',
      cell: ({ spec }) => spec?.requiresRepublish ?? false,
    },
    {
      name: 'Modes',
      type: 'string',
      description: 'Lives of volumes that it knows.',
      cell: ({ spec }) => textOrNone(spec?.volumeLifecycleModes?.join(',')),
    },
    ageColumn(),
  ],
});

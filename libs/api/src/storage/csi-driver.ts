/** CSIDriver: capabilities and requirements of a storage driver. */
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

const fieldPath = path('spec');

/** Errors use a different name for the attachment field. */
const reportedPath = (field: Field) =>
  fieldPath.child(field === 'attachRequired' ? 'attachedRequired' : field);

function validateDriver({ spec = {} }: CSIDriver): FieldError[] {
  const required = (['attachRequired', 'podInfoOnMount'] as const)
    .filter((field) => spec[field] === undefined)
    .map((field) => fieldError.required(reportedPath(field)));
  const policies = ['File', 'None', 'ReadWriteOnceWithFSType'];
  return [
    ...required,
    ...(spec.fsGroupPolicy === undefined
      ? []
      : checkOneOf(spec.fsGroupPolicy, policies, fieldPath.child('fsGroupPolicy'))),
    ...validateTokenRequests(spec.tokenRequests ?? [], fieldPath.child('tokenRequests')),
    ...(spec.volumeLifecycleModes ?? []).flatMap((mode) =>
      checkOneOf(mode, ['Persistent', 'Ephemeral'], fieldPath.child('volumeLifecycleModes')),
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

/** The spec is immutable, except the token settings. */
function validateDriverUpdate({ spec = {} }: CSIDriver, old: CSIDriver): FieldError[] {
  return [
    ...fixed
      .filter((field) => !semanticallyEqual(spec[field], old.spec?.[field]))
      .map((field) => immutable(reportedPath(field), spec[field])),
    ...validateTokenRequests(spec.tokenRequests ?? [], fieldPath.child('tokenRequests')),
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
  gatedFields: [
    { gate: 'CSIInlineVolume', path: 'spec.volumeLifecycleModes' },
    { gate: 'CSIServiceAccountToken', path: 'spec.requiresRepublish' },
    { gate: 'CSIServiceAccountToken', path: 'spec.tokenRequests' },
    { gate: 'CSIStorageCapacity', path: 'spec.storageCapacity' },
    { gate: 'CSIVolumeFSGroupPolicy', path: 'spec.fsGroupPolicy' },
  ],
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
    flagColumn(
      'AttachRequired',
      'attachRequired',
      'Whether volumes must be attached before they are mounted.',
    ),
    flagColumn(
      'PodInfoOnMount',
      'podInfoOnMount',
      'Whether the driver gets information about the pod on mount.',
    ),
    flagColumn('StorageCapacity', 'storageCapacity', 'Whether the driver reports its capacity.'),
    {
      name: 'TokenRequests',
      type: 'string',
      description: 'Audiences of the tokens for the driver.',
      cell: ({ spec }) =>
        spec?.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
    },
    {
      name: 'RequiresRepublish',
      type: 'boolean',
      description: 'Whether the driver is called periodically to update mounts.',
      cell: ({ spec }) => spec?.requiresRepublish ?? false,
    },
    {
      name: 'Modes',
      type: 'string',
      description: 'Supported life cycles of volumes.',
      cell: ({ spec }) => textOrNone(spec?.volumeLifecycleModes?.join(',')),
    },
    ageColumn(),
  ],
});

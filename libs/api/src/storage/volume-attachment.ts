/** VolumeAttachment: the request to attach a volume to a node, and its status. */
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from '@orch/types/storage/v1';
import { validateVolumeSpec } from '../core/volume/persistent-volume-validation.js';
import { validateDriverName } from '../core/volume/volume-sources.js';
import { define, type StrategyContext } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';
import { validateMapSize } from './map-size.js';
import { alphaVersion, storageGroup, storageVersions } from './versions.js';

const messageBytesMax = 1024;

/** The version that predates the status subresource writes the status with the object. */
const takesStatus = ({ requestVersion }: StrategyContext) => requestVersion?.version === 'v1beta1';

function validateAttachment({ spec, status }: VolumeAttachment): FieldError[] {
  const fieldPath = path('spec');
  const statusAt = path('status');
  const nodeName = spec?.nodeName ?? '';
  return [
    ...(spec?.attacher ? [] : [fieldError.required(fieldPath.child('attacher'))]),
    ...validateSource(spec?.source ?? {}, fieldPath.child('source')),
    ...invalidEach(fieldPath.child('nodeName'), nodeName, checkDns1123Subdomain(nodeName)),
    ...validateMapSize(status?.attachmentMetadata ?? {}, statusAt.child('attachmentMetadata')),
    ...validateVolumeError(status?.attachError, statusAt.child('attachError')),
    ...validateVolumeError(status?.detachError, statusAt.child('detachError')),
  ];
}

const oneOfBoth = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSource(
  { persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource,
  fieldPath: FieldPath,
): FieldError[] {
  if (name === undefined && !inline) return [fieldError.required(fieldPath, oneOfBoth)];
  if (name !== undefined && inline) return [fieldError.forbidden(fieldPath, oneOfBoth)];
  if (inline) return validateVolumeSpec(inline, '', true, fieldPath.child('inlineVolumeSpec'));
  const detail = 'must specify non empty persistentVolumeName';
  return name === '' ? [fieldError.required(fieldPath.child('persistentVolumeName'), detail)] : [];
}

function validateVolumeError(error: VolumeError | undefined, fieldPath: FieldPath): FieldError[] {
  return Buffer.byteLength(error?.message ?? '') > messageBytesMax
    ? [fieldError.tooLong(fieldPath.child('message'), messageBytesMax)]
    : [];
}

/** One older version has no additional rules at creation. */
function validateNew(
  { spec }: VolumeAttachment,
  { requestVersion }: StrategyContext,
): FieldError[] {
  if (requestVersion?.version === 'v1beta1') return [];
  const name = spec?.source?.persistentVolumeName;
  return [
    ...validateDriverName(spec?.attacher, path('spec', 'attacher')),
    ...(name === undefined
      ? []
      : invalidEach(
          path('spec', 'source', 'persistentVolumeName'),
          name,
          checkDns1123Subdomain(name),
        )),
  ];
}

function validateUpdate(object: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  return semanticallyEqual(object.spec, old.spec) ? [] : [immutable(path('spec'), object.spec)];
}

export const volumeAttachment = define<VolumeAttachment>({
  plural: 'volumeattachments',
  singular: '',
  kind: 'VolumeAttachment',
  namespaced: false,
  versions: [
    ...storageVersions('VolumeAttachment', '1.19').map((version) =>
      version.version === 'v1' ? version : { ...version, withoutStatus: true },
    ),
    { ...alphaVersion('VolumeAttachment', 'v1'), withoutStatus: true },
  ],
  stored: { group: storageGroup, version: 'v1' },
  prepareForCreate(object, context) {
    if (!takesStatus(context)) object.status = { attached: false };
  },
  prepareForUpdate(object, old, context) {
    if (!takesStatus(context)) object.status = old.status;
  },
  validate: validateAttachment,
  validateCreate: validateNew,
  validateUpdate,
  updateChecks: ['metadata', 'object', 'metadata', 'object', 'update'],
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    {
      name: 'Attacher',
      type: 'string',
      format: 'name',
      description: 'Name of the driver.',
      cell: (object) => object.spec?.attacher ?? '',
    },
    {
      name: 'PV',
      type: 'string',
      description: 'Volume to attach.',
      cell: (object) => object.spec?.source?.persistentVolumeName ?? '',
    },
    {
      name: 'Node',
      type: 'string',
      description: 'Node to attach to.',
      cell: (object) => object.spec?.nodeName ?? '',
    },
    {
      name: 'Attached',
      type: 'boolean',
      description: 'Whether the volume is attached.',
      cell: (object) => object.status?.attached ?? false,
    },
    ageColumn(),
  ],
  status: {
    resetFields: ['spec', 'metadata'],
    prepareForUpdate(object, old) {
      object.spec = old.spec;
      const { managedFields, resourceVersion } = object.metadata ?? {};
      object.metadata = { ...old.metadata, managedFields, resourceVersion };
    },
    validateUpdate: (object, old) => [
      ...validateAttachment(object),
      ...validateAttachment(object),
      ...validateUpdate(object, old),
    ],
  },
});

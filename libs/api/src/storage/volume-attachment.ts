/** VolumeAttachment: a volume that is to be on a node, and whether it is. */
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
import { validateVolumeSpec } from '../core/persistent-volume-validation.js';
import { validateDriverName } from '../core/volume-sources.js';
import { define, type RequestContext } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';
import { validateMapSize } from './map-size.js';
import { alphaVersion, storageGroup, storageVersions } from './versions.js';

const messageBytesMax = 1024;

/** The version from before there was a subresource for it takes the status with the object. */
const takesStatus = ({ requestVersion }: RequestContext) => requestVersion?.version === 'v1beta1';

function validateAttachment({ spec, status }: VolumeAttachment): FieldError[] {
  const at = path('spec');
  const statusAt = path('status');
  const nodeName = spec?.nodeName ?? '';
  return [
    ...(spec?.attacher ? [] : [fieldError.required(at.child('attacher'))]),
    ...validateSource(spec?.source ?? {}, at.child('source')),
    ...invalidEach(at.child('nodeName'), nodeName, checkDns1123Subdomain(nodeName)),
    ...validateMapSize(status?.attachmentMetadata ?? {}, statusAt.child('attachmentMetadata')),
    ...validateVolumeError(status?.attachError, statusAt.child('attachError')),
    ...validateVolumeError(status?.detachError, statusAt.child('detachError')),
  ];
}

const oneOfBoth = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSource(
  { persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource,
  at: FieldPath,
): FieldError[] {
  if (name === undefined && !inline) return [fieldError.required(at, oneOfBoth)];
  if (name !== undefined && inline) return [fieldError.forbidden(at, oneOfBoth)];
  if (inline) return validateVolumeSpec(inline, '', true, at.child('inlineVolumeSpec'));
  const detail = 'must specify non empty persistentVolumeName';
  return name === '' ? [fieldError.required(at.child('persistentVolumeName'), detail)] : [];
}

function validateVolumeError(error: VolumeError | undefined, at: FieldPath): FieldError[] {
  return Buffer.byteLength(error?.message ?? '') > messageBytesMax
    ? [fieldError.tooLong(at.child('message'), messageBytesMax)]
    : [];
}

/** New ones in the newest version are held to more. */
function validateNew({ spec }: VolumeAttachment, { requestVersion }: RequestContext): FieldError[] {
  if (requestVersion && requestVersion.version !== 'v1') return [];
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
  return [
    ...validateAttachment(object),
    ...(semanticallyEqual(object.spec, old.spec) ? [] : [immutable(path('spec'), object.spec)]),
  ];
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
  // An update reports what is wrong with the object twice, as clients know it.
  validateUpdate,
  unconditionalUpdate: false,
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    {
      name: 'Attacher',
      type: 'string',
      format: 'name',
      description: 'Driver that attaches it.',
      cell: (object) => object.spec?.attacher ?? '',
    },
    {
      name: 'PV',
      type: 'string',
      description: 'Volume that is attached.',
      cell: (object) => object.spec?.source?.persistentVolumeName ?? '',
    },
    {
      name: 'Node',
      type: 'string',
      description: 'Node it is attached to.',
      cell: (object) => object.spec?.nodeName ?? '',
    },
    {
      name: 'Attached',
      type: 'boolean',
      description: 'Whether it is there.',
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
      ...validateUpdate(object, old),
    ],
  },
});

/** Validates the volume sources of pods; one function per source. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  Quantity,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  CSIVolumeSource,
  EmptyDirVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  HostPathVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
} from '@orch/types/core/v1';
import {
  checkOneOf,
  checkOptional,
  checkRange,
  checkRequired,
  invalidEach,
} from '../../shared/rules.js';
import { validateLocalDescendingPath, validateNoBacksteps } from '../common/path-rules.js';

const hostPathTypes = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];

/** The named fields must not be empty. */
export function requireFields<T extends object>(
  source: T,
  fields: readonly (keyof T & string)[],
  fieldPath: FieldPath,
): FieldError[] {
  return fields.flatMap((field) => {
    const value: unknown = source[field];
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && !value.length);
    return isEmpty ? [fieldError.required(fieldPath.child(field))] : [];
  });
}

export function validateHostPath(source: HostPathVolumeSource, fieldPath: FieldPath): FieldError[] {
  if (!source.path) return [fieldError.required(fieldPath.child('path'))];
  const errors = validateNoBacksteps(source.path, fieldPath.child('path'));
  if (source.type !== undefined && !hostPathTypes.includes(source.type)) {
    errors.push(
      fieldError.notSupported(fieldPath.child('type'), source.type, [...hostPathTypes].sort()),
    );
  }
  return errors;
}

export function validateEmptyDir(source: EmptyDirVolumeSource, fieldPath: FieldPath): FieldError[] {
  const limit = source.sizeLimit;
  return limit !== undefined && Quantity.parse(limit).nanos < 0n
    ? [
        fieldError.forbidden(
          fieldPath.child('sizeLimit'),
          'SizeLimit field must be a valid resource quantity',
        ),
      ]
    : [];
}

export function validateGitRepo(source: GitRepoVolumeSource, fieldPath: FieldPath): FieldError[] {
  return [
    ...requireFields(source, ['repository'], fieldPath),
    ...validateLocalDescendingPath(source.directory ?? '', fieldPath.child('directory')),
  ];
}

export function validateNfs(source: NFSVolumeSource, fieldPath: FieldPath): FieldError[] {
  const errors = requireFields(source, ['server', 'path'], fieldPath);
  if (source.path && !source.path.startsWith('/')) {
    errors.push(
      fieldError.invalid(fieldPath.child('path'), source.path, 'must be an absolute path'),
    );
  }
  return errors;
}

export function validatePersistentDisk(
  source: GCEPersistentDiskVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...requireFields(source, ['pdName'], fieldPath),
    ...validatePartition(source.partition, fieldPath),
  ];
}

export function validateElasticBlockStore(
  source: AWSElasticBlockStoreVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  return [
    ...requireFields(source, ['volumeID'], fieldPath),
    ...validatePartition(source.partition, fieldPath),
  ];
}

function validatePartition(partition: number | undefined, fieldPath: FieldPath): FieldError[] {
  return checkRange(partition, 0, 255, fieldPath.child('partition'));
}

export function validateIscsi(source: ISCSIVolumeSource, fieldPath: FieldPath): FieldError[] {
  const errors = requireFields(source, ['targetPortal'], fieldPath);
  if (!source.iqn) errors.push(fieldError.required(fieldPath.child('iqn')));
  else errors.push(...validateIscsiName(source.iqn, fieldPath.child('iqn')));
  errors.push(...checkRange(source.lun, 0, 255, fieldPath.child('lun')));
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    errors.push(fieldError.required(fieldPath.child('secretRef')));
  }
  if (source.initiatorName !== undefined) {
    errors.push(...validateIscsiName(source.initiatorName, fieldPath.child('initiatorname')));
  }
  return errors;
}

const iscsiNames: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

function validateIscsiName(name: string, fieldPath: FieldPath): FieldError[] {
  const pattern = iscsiNames[name.slice(0, 3)];
  if (pattern?.test(name)) return [];
  const detail = pattern ? '' : ' starting with iqn, eui, or naa';
  return [fieldError.invalid(fieldPath, name, `must be valid format${detail}`)];
}

export function validateFc(source: FCVolumeSource, fieldPath: FieldPath): FieldError[] {
  const names = source.targetWWNs ?? [];
  const ids = source.wwids ?? [];
  if (names.length === 0 && ids.length === 0) {
    return [
      fieldError.required(
        fieldPath.child('targetWWNs'),
        'must specify either targetWWNs or wwids, but not both',
      ),
    ];
  }
  if (names.length > 0 && ids.length > 0) {
    return [
      fieldError.invalid(
        fieldPath.child('targetWWNs'),
        names,
        'targetWWNs and wwids can not be specified simultaneously',
      ),
    ];
  }
  if (names.length === 0) return [];
  return source.lun === undefined
    ? [fieldError.required(fieldPath.child('lun'), 'lun is required if targetWWNs is specified')]
    : checkRange(source.lun, 0, 255, fieldPath.child('lun'));
}

/** Options in the domain of the interface are reserved. */
export function validateFlexVolume(source: FlexVolumeSource, fieldPath: FieldPath): FieldError[] {
  const domain = dialect().keyDomain;
  const errors = requireFields(source, ['driver'], fieldPath);
  for (const key of Object.keys(source.options ?? {})) {
    const slash = key.indexOf('/');
    const namespace = `.${slash < 0 ? key : key.slice(0, slash)}`.toLowerCase();
    if (!namespace.endsWith(`.${domain}`)) continue;
    errors.push(
      fieldError.invalid(
        fieldPath.child('options').key(key),
        key,
        `${domain} and ${domain} namespaces are reserved`,
      ),
    );
  }
  return errors;
}

export function validateFlocker(source: FlockerVolumeSource, fieldPath: FieldPath): FieldError[] {
  const { datasetName, datasetUUID } = source;
  const errors: FieldError[] = [];
  if (!datasetName && !datasetUUID) {
    errors.push(fieldError.required(fieldPath, 'one of datasetName and datasetUUID is required'));
  }
  if (datasetName && datasetUUID) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        'resource',
        'datasetName and datasetUUID can not be specified simultaneously',
      ),
    );
  }
  if (datasetName?.includes('/')) {
    errors.push(
      fieldError.invalid(fieldPath.child('datasetName'), datasetName, "must not contain '/'"),
    );
  }
  return errors;
}

export function validateQuobyte(source: QuobyteVolumeSource, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!source.registry) {
    errors.push(
      fieldError.required(
        fieldPath.child('registry'),
        'must be a host:port pair or multiple pairs separated by commas',
      ),
    );
  } else if ((source.tenant?.length ?? 0) >= 65) {
    errors.push(
      fieldError.required(
        fieldPath.child('tenant'),
        'must be a UUID and may not exceed a length of 64 characters',
      ),
    );
  } else if (!source.registry.split(',').every((pair) => /^[^:]+:\d+$/.test(pair))) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('registry'),
        source.registry,
        'must be a host:port pair or multiple pairs separated by commas',
      ),
    );
  }
  return [...errors, ...requireFields(source, ['volume'], fieldPath)];
}

export function validateAzureDisk(
  source: AzureDiskVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = requireFields(source, ['diskName', 'diskURI'], fieldPath);
  if (source.cachingMode !== undefined) {
    errors.push(
      ...checkOneOf(
        source.cachingMode,
        ['None', 'ReadOnly', 'ReadWrite'],
        fieldPath.child('cachingMode'),
      ),
    );
  }
  if (source.kind !== undefined) {
    errors.push(
      ...checkOneOf(source.kind, ['Dedicated', 'Managed', 'Shared'], fieldPath.child('kind')),
    );
  }
  const isManaged = source.kind === 'Managed';
  const start = isManaged ? '/subscriptions/' : 'https://';
  if (source.kind !== undefined && !source.diskURI.startsWith(start)) {
    const form = isManaged
      ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
    errors.push(fieldError.notSupported(fieldPath.child('diskURI'), source.diskURI, [form]));
  }
  return errors;
}

export function validateStorageOs(
  source: StorageOSVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = checkRequired(source.volumeName, fieldPath.child('volumeName'), checkDns1123Label);
  errors.push(
    ...checkOptional(source.volumeNamespace, fieldPath.child('volumeNamespace'), checkDns1123Label),
  );
  if (source.secretRef && !source.secretRef.name) {
    errors.push(fieldError.required(fieldPath.child('secretRef', 'name')));
  }
  return errors;
}

const driverNameLengthMax = 63;

/** Validates names of storage drivers. */
export function validateDriverName(driver: string | undefined, fieldPath: FieldPath): FieldError[] {
  const name = driver ?? '';
  const errors: FieldError[] = [];
  if (name === '') errors.push(fieldError.required(fieldPath));
  if (name.length > driverNameLengthMax)
    errors.push(fieldError.tooLong(fieldPath, driverNameLengthMax));
  errors.push(...invalidEach(fieldPath, name, checkDns1123Subdomain(name.toLowerCase())));
  return errors;
}

export function validateCsi(source: CSIVolumeSource, fieldPath: FieldPath): FieldError[] {
  const errors = validateDriverName(source.driver, fieldPath.child('driver'));
  const reference = source.nodePublishSecretRef;
  if (!reference) return errors;
  if (!reference.name) {
    errors.push(fieldError.required(fieldPath.child('nodePublishSecretRef ', 'name')));
  } else {
    errors.push(
      ...invalidEach(
        fieldPath.child('name'),
        reference.name,
        checkDns1123Subdomain(reference.name),
      ),
    );
  }
  return errors;
}

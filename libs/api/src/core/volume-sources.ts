/** Rules of the sources that volumes of pods have; one function a source. */
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
} from '../shared/rules.js';
import { validateLocalDescendingPath, validateNoBacksteps } from './path-rules.js';

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

/** Every named field must not be empty. */
export function requireFields<T extends object>(
  source: T,
  fields: readonly (keyof T & string)[],
  at: FieldPath,
): FieldError[] {
  return fields.flatMap((field) => {
    const value: unknown = source[field];
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && !value.length);
    return isEmpty ? [fieldError.required(at.child(field))] : [];
  });
}

export function validateHostPath(source: HostPathVolumeSource, at: FieldPath): FieldError[] {
  if (!source.path) return [fieldError.required(at.child('path'))];
  const errors = validateNoBacksteps(source.path, at.child('path'));
  if (source.type !== undefined && !hostPathTypes.includes(source.type)) {
    errors.push(fieldError.notSupported(at.child('type'), source.type, [...hostPathTypes].sort()));
  }
  return errors;
}

export function validateEmptyDir(source: EmptyDirVolumeSource, at: FieldPath): FieldError[] {
  const limit = source.sizeLimit;
  return limit !== undefined && Quantity.parse(limit).nanos < 0n
    ? [
        fieldError.forbidden(
          at.child('sizeLimit'),
          'SizeLimit field must be a valid resource quantity',
        ),
      ]
    : [];
}

export function validateGitRepo(source: GitRepoVolumeSource, at: FieldPath): FieldError[] {
  return [
    ...requireFields(source, ['repository'], at),
    ...validateLocalDescendingPath(source.directory ?? '', at.child('directory')),
  ];
}

export function validateNfs(source: NFSVolumeSource, at: FieldPath): FieldError[] {
  const errors = requireFields(source, ['server', 'path'], at);
  if (source.path && !source.path.startsWith('/')) {
    errors.push(fieldError.invalid(at.child('path'), source.path, 'must be an absolute path'));
  }
  return errors;
}

export function validatePersistentDisk(
  source: GCEPersistentDiskVolumeSource,
  at: FieldPath,
): FieldError[] {
  return [...requireFields(source, ['pdName'], at), ...validatePartition(source.partition, at)];
}

export function validateElasticBlockStore(
  source: AWSElasticBlockStoreVolumeSource,
  at: FieldPath,
): FieldError[] {
  return [...requireFields(source, ['volumeID'], at), ...validatePartition(source.partition, at)];
}

function validatePartition(partition: number | undefined, at: FieldPath): FieldError[] {
  return checkRange(partition, 0, 255, at.child('partition'));
}

export function validateIscsi(source: ISCSIVolumeSource, at: FieldPath): FieldError[] {
  const errors = requireFields(source, ['targetPortal'], at);
  if (!source.iqn) errors.push(fieldError.required(at.child('iqn')));
  else errors.push(...validateIscsiName(source.iqn, at.child('iqn')));
  errors.push(...checkRange(source.lun, 0, 255, at.child('lun')));
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef) {
    errors.push(fieldError.required(at.child('secretRef')));
  }
  if (source.initiatorName !== undefined) {
    errors.push(...validateIscsiName(source.initiatorName, at.child('initiatorname')));
  }
  return errors;
}

const iscsiNames: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

function validateIscsiName(name: string, at: FieldPath): FieldError[] {
  const pattern = iscsiNames[name.slice(0, 3)];
  return pattern?.test(name) ? [] : [fieldError.invalid(at, name, 'must be valid format')];
}

export function validateFc(source: FCVolumeSource, at: FieldPath): FieldError[] {
  const names = source.targetWWNs ?? [];
  const ids = source.wwids ?? [];
  if (names.length === 0 && ids.length === 0) {
    return [
      fieldError.required(
        at.child('targetWWNs'),
        'must specify either targetWWNs or wwids, but not both',
      ),
    ];
  }
  if (names.length > 0 && ids.length > 0) {
    return [
      fieldError.invalid(
        at.child('targetWWNs'),
        names,
        'targetWWNs and wwids can not be specified simultaneously',
      ),
    ];
  }
  if (names.length === 0) return [];
  return source.lun === undefined
    ? [fieldError.required(at.child('lun'), 'lun is required if targetWWNs is specified')]
    : checkRange(source.lun, 0, 255, at.child('lun'));
}

/** Options of the interface's own domain are kept for the interface. */
export function validateFlexVolume(source: FlexVolumeSource, at: FieldPath): FieldError[] {
  const domain = dialect().keyDomain;
  const errors = requireFields(source, ['driver'], at);
  for (const key of Object.keys(source.options ?? {})) {
    const slash = key.indexOf('/');
    const namespace = `.${slash < 0 ? key : key.slice(0, slash)}`.toLowerCase();
    if (!namespace.endsWith(`.${domain}`)) continue;
    errors.push(
      fieldError.invalid(
        at.child('options').key(key),
        key,
        `${domain} and ${domain} namespaces are reserved`,
      ),
    );
  }
  return errors;
}

export function validateFlocker(source: FlockerVolumeSource, at: FieldPath): FieldError[] {
  const { datasetName, datasetUUID } = source;
  const errors: FieldError[] = [];
  if (!datasetName && !datasetUUID) {
    errors.push(fieldError.required(at, 'one of datasetName and datasetUUID is required'));
  }
  if (datasetName && datasetUUID) {
    errors.push(
      fieldError.invalid(
        at,
        'resource',
        'datasetName and datasetUUID can not be specified simultaneously',
      ),
    );
  }
  if (datasetName?.includes('/')) {
    errors.push(fieldError.invalid(at.child('datasetName'), datasetName, "must not contain '/'"));
  }
  return errors;
}

export function validateQuobyte(source: QuobyteVolumeSource, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (!source.registry) {
    errors.push(
      fieldError.required(
        at.child('registry'),
        'must be a host:port pair or multiple pairs separated by commas',
      ),
    );
  } else if ((source.tenant?.length ?? 0) >= 65) {
    errors.push(
      fieldError.required(
        at.child('tenant'),
        'must be a UUID and may not exceed a length of 64 characters',
      ),
    );
  } else if (!source.registry.split(',').every((pair) => /^[^:]+:\d+$/.test(pair))) {
    errors.push(
      fieldError.invalid(
        at.child('registry'),
        source.registry,
        'must be a host:port pair or multiple pairs separated by commas',
      ),
    );
  }
  return [...errors, ...requireFields(source, ['volume'], at)];
}

export function validateAzureDisk(source: AzureDiskVolumeSource, at: FieldPath): FieldError[] {
  const errors = requireFields(source, ['diskName', 'diskURI'], at);
  if (source.cachingMode !== undefined) {
    errors.push(
      ...checkOneOf(source.cachingMode, ['None', 'ReadOnly', 'ReadWrite'], at.child('cachingMode')),
    );
  }
  if (source.kind !== undefined) {
    errors.push(...checkOneOf(source.kind, ['Dedicated', 'Managed', 'Shared'], at.child('kind')));
  }
  const isManaged = source.kind === 'Managed';
  const start = isManaged ? '/subscriptions/' : 'https://';
  if (source.diskURI && !source.diskURI.startsWith(start)) {
    const form = isManaged
      ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
    errors.push(fieldError.notSupported(at.child('diskURI'), source.diskURI, [form]));
  }
  return errors;
}

export function validateStorageOs(source: StorageOSVolumeSource, at: FieldPath): FieldError[] {
  const errors = checkRequired(source.volumeName, at.child('volumeName'), checkDns1123Label);
  errors.push(
    ...checkOptional(source.volumeNamespace, at.child('volumeNamespace'), checkDns1123Label),
  );
  if (source.secretRef && !source.secretRef.name) {
    errors.push(fieldError.required(at.child('secretRef', 'name')));
  }
  return errors;
}

const driverNameLengthMax = 63;

/** Names of storage drivers. */
export function validateDriverName(driver: string | undefined, at: FieldPath): FieldError[] {
  const name = driver ?? '';
  const errors: FieldError[] = [];
  if (name === '') errors.push(fieldError.required(at));
  if (name.length > driverNameLengthMax) errors.push(fieldError.tooLong(at, driverNameLengthMax));
  errors.push(...invalidEach(at, name, checkDns1123Subdomain(name.toLowerCase())));
  return errors;
}

export function validateCsi(source: CSIVolumeSource, at: FieldPath): FieldError[] {
  const errors = validateDriverName(source.driver, at.child('driver'));
  const reference = source.nodePublishSecretRef;
  if (!reference) return errors;
  if (!reference.name) {
    errors.push(fieldError.required(at.child('nodePublishSecretRef ', 'name')));
  } else {
    errors.push(
      ...invalidEach(at.child('name'), reference.name, checkDns1123Subdomain(reference.name)),
    );
  }
  return errors;
}

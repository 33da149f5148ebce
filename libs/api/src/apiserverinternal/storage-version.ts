/** StorageVersion: the versions in which the servers of a cluster store a resource. */
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
} from '@orch/apimachinery';
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '@orch/types/internal.apiserver/v1alpha1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';

const serversShownMax = 3;

/** `<group>.<resource>`. */
function storageVersionName(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...checkDns1123Subdomain(name.slice(0, dot)).map((message) => `the group segment ${message}`),
    ...checkDns1035Label(name.slice(dot + 1)).map((message) => `the resource segment ${message}`),
  ];
}

/** `[group/]version`. */
function checkApiVersion(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      "an apiVersion is a DNS-1035 label with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')",
    ];
  }
  const version = parts.at(-1) ?? '';
  const messages =
    parts.length === 1 ? [] : partMessages('group', parts[0] ?? '', checkDns1123Subdomain);
  return [...messages, ...partMessages('version', version, checkDns1035Label)];
}

function partMessages(part: string, text: string, check: (text: string) => string[]): string[] {
  const messages = text === '' ? ['must be non-empty'] : check(text);
  return messages.map((message) => `${part} part ${message}`);
}

function validateServer(server: ServerStorageVersion, fieldPath: FieldPath): FieldError[] {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [] } = server;
  const errors = invalidEach(
    fieldPath.child('apiServerID'),
    apiServerID,
    checkDns1123Subdomain(apiServerID),
  );
  const check = (version: string, field: FieldPath) => {
    const messages = checkApiVersion(version);
    if (messages.length > 0) errors.push(fieldError.invalid(field, version, messages.join(',')));
  };
  check(encodingVersion, fieldPath.child('encodingVersion'));
  const decodableAt = fieldPath.child('decodableVersions');
  for (const [index, version] of decodableVersions.entries()) {
    check(version, decodableAt.index(index));
  }
  if (!decodableVersions.includes(encodingVersion)) {
    errors.push(
      fieldError.invalid(
        decodableAt,
        decodableVersions,
        `decodableVersions must include encodingVersion ${encodingVersion}`,
      ),
    );
  }
  return errors;
}

/** The version that all servers store in; undefined if they differ or there is no server. */
function commonVersion(servers: readonly ServerStorageVersion[]): string | undefined {
  const versions = new Set(servers.map(({ encodingVersion }) => encodingVersion));
  return versions.size === 1 ? [...versions][0] : undefined;
}

function validateCommon(status: StorageVersionStatus, fieldPath: FieldPath): FieldError[] {
  const actual = commonVersion(status.storageVersions ?? []);
  const reported = status.commonEncodingVersion;
  if (reported === actual) return [];
  const message =
    actual === undefined
      ? 'should be nil if apiServers do not agree on encodingVersion, or if there is no apiServer'
      : `the ${reported === undefined ? '' : 'actual '}common encoding version is ${actual}`;
  return [fieldError.invalid(fieldPath.child('commonEncodingVersion'), reported, message)];
}

/** Errors have the path of the status, not of its conditions, as upstream. */
function validateCondition(
  conditions: readonly StorageVersionCondition[],
  index: number,
): FieldError[] {
  const { type = '', status = '', reason = '', message = '' } = conditions[index]!;
  const fieldPath = path('status').index(index);
  const errors: FieldError[] = [];
  const before = conditions.slice(0, index).findLastIndex((earlier) => earlier.type === type);
  if (before >= 0) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('type'),
        type,
        `the type of the condition is not unique, it also appears in conditions[${before}]`,
      ),
    );
  }
  errors.push(
    ...invalidEach(fieldPath.child('type'), type, checkQualifiedName(type)),
    ...invalidEach(fieldPath.child('status'), status, checkQualifiedName(status)),
  );
  if (reason === '') {
    errors.push(fieldError.required(fieldPath.child('reason'), 'reason cannot be empty'));
  }
  if (message === '') {
    errors.push(fieldError.required(fieldPath.child('message'), 'message cannot be empty'));
  }
  return errors;
}

function validateStatus({ status }: StorageVersion): FieldError[] {
  const fieldPath = path('status');
  const conditions = status.conditions ?? [];
  return [
    ...(status.storageVersions ?? []).flatMap((server, index) =>
      validateServer(server, fieldPath.child('storageVersions').index(index)),
    ),
    ...validateCommon(status, fieldPath),
    ...conditions.flatMap((_, index) => validateCondition(conditions, index)),
  ];
}

function serversCell({ status }: StorageVersion): string {
  const servers = status.storageVersions ?? [];
  const printed = servers
    .slice(0, serversShownMax)
    .map((server) => `${server.apiServerID ?? ''}=${server.encodingVersion ?? ''}`)
    .join(',');
  const more = servers.length - serversShownMax;
  return more > 0 ? `${printed} + ${more} more...` : printed;
}

export const storageVersion = define<StorageVersion>({
  plural: 'storageversions',
  singular: '',
  kind: 'StorageVersion',
  namespaced: false,
  versions: [{ group: 'internal.apiserver', version: 'v1alpha1' }],
  stored: { group: 'internal.apiserver', version: 'v1alpha1' },
  validateName: storageVersionName,
  unconditionalUpdate: false,

  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },

  status: { validateUpdate: validateStatus },

  columns: [
    nameColumn(),
    {
      name: 'CommonEncodingVersion',
      type: 'string',
      description: 'Storage version that all servers share.',
      cell: ({ status }) => status.commonEncodingVersion ?? '<unset>',
    },
    {
      name: 'StorageVersions',
      type: 'string',
      description: 'Storage version of each server.',
      cell: serversCell,
    },
    ageColumn(),
  ],
});

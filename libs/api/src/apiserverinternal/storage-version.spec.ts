import type { StorageVersion } from '@orch/types/internal.apiserver/v1alpha1';
import { describe, expect, it } from 'vitest';
import { cells, create, updatePart } from '../testing/write.js';
import { storageVersion } from './storage-version.js';

const server = (id: string, encodingVersion = 'apps/v1') => ({
  apiServerID: id,
  encodingVersion,
  decodableVersions: [encodingVersion],
});
const createVersion = (name = 'apps.deployments') =>
  create<StorageVersion>(storageVersion, { metadata: { name }, spec: {} });
const written = (status: object) =>
  updatePart<StorageVersion>(storageVersion, 'status', createVersion().object, (draft) => {
    draft.status = status;
  });

describe('storage versions', () => {
  it('require the name of their resource', () => {
    expect(createVersion().errors).toEqual([]);
    expect(createVersion('deployments').errors).toEqual([
      'metadata.name: Invalid value: "deployments": name must be in the form of <group>.<resource>',
    ]);
  });

  it('show the version of each server', () => {
    const { object, errors } = written({
      storageVersions: ['a', 'b', 'c', 'd'].map((id) => server(id)),
      commonEncodingVersion: 'apps/v1',
    });
    expect(errors).toEqual([]);
    expect(cells(storageVersion, object)).toMatchObject({
      CommonEncodingVersion: 'apps/v1',
      StorageVersions: 'a=apps/v1,b=apps/v1,c=apps/v1 + 1 more...',
    });
  });

  it.each<[object, string[]]>([
    [
      { storageVersions: [server('a')] },
      [
        'status.commonEncodingVersion: Invalid value: "null": the common encoding version is apps/v1',
      ],
    ],
    [
      { storageVersions: [server('a'), server('b', 'v1')], commonEncodingVersion: 'v1' },
      [
        'status.commonEncodingVersion: Invalid value: "v1": should be nil if apiServers do not agree on encodingVersion, or if there is no apiServer',
      ],
    ],
    [
      {
        storageVersions: [{ ...server('a', '/v1'), decodableVersions: [] }],
        commonEncodingVersion: '/v1',
      },
      [
        'status.storageVersions[0].encodingVersion: Invalid value: "/v1": group part must be non-empty',
        'status.storageVersions[0].decodableVersions: Invalid value: []string{}: decodableVersions must include encodingVersion /v1',
      ],
    ],
    [
      {
        conditions: [
          { type: 'A', status: 'True', reason: 'a', message: 'a' },
          { type: 'A', status: 'True' },
        ],
      },
      [
        'status[1].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[0]',
        'status[1].reason: Required value: reason cannot be empty',
        'status[1].message: Required value: message cannot be empty',
      ],
    ],
  ])('reject %j', (status, messages) => {
    expect(written(status).errors).toEqual(messages);
  });
});

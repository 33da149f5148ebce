/**
 * The storage class of claims without a class: each volume is a directory in the data directory of
 * the cluster, for the pods of one node.
 */
import { join } from 'node:path';
import { localPathProvisioner, nodePathParameter } from '@orch/apimachinery';
import { isAlreadyExists, type RestClient, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { StorageClass } from '@orch/types/storage/v1';
import { type ApiAccess, asAdministrator } from './admin-client.js';

const name = 'local-path';

/** Creates the class unless it exists. Throws `UserError`. */
export async function ensureStorageClass(access: ApiAccess, dataDirectory: string): Promise<void> {
  await asAdministrator(access, `the storage class ${name} was not created`, (client) =>
    create(client, join(dataDirectory, 'volumes')),
  );
}

async function create(client: RestClient, nodePath: string): Promise<void> {
  const storageClass: StorageClass = {
    apiVersion: dialect().apiVersion('storage', 'v1'),
    kind: 'StorageClass',
    metadata: {
      name,
      annotations: { [dialect().key('is-default-class', 'storageclass')]: 'true' },
    },
    provisioner: localPathProvisioner(),
    parameters: { [nodePathParameter]: nodePath },
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  };
  try {
    await client.resource(resources.storageClasses).create(storageClass);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Reads claims and volumes from the API server, one by one: a node may not list or watch them. */
import type { SelectableNode } from '@orch/apimachinery';
import { type ApiClient, isNotFound, resources } from '@orch/client';
import { errorMessage } from '@orch/component';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import { objectSyncTimeoutMs } from '../limits.js';
import { BrokenReference } from './referenced-objects.js';

const options = { timeoutMs: objectSyncTimeoutMs };

export class ClaimObjects {
  constructor(
    private readonly client: ApiClient,
    private readonly nodeName: string,
  ) {}

  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined> {
    const claims = this.client.resource(resources.persistentVolumeClaims, namespace);
    return readable(`persistentvolumeclaim "${name}"`, claims.get(name, options));
  }

  volume(name: string): Promise<PersistentVolume | undefined> {
    const volumes = this.client.resource(resources.persistentVolumes);
    return readable(`persistentvolume "${name}"`, volumes.get(name, options));
  }

  async node(): Promise<SelectableNode> {
    const { nodeName: name } = this;
    const node = await readable(
      `node "${name}"`,
      this.client.resource(resources.nodes).get(name, options),
    );
    return { name, labels: node?.metadata?.labels ?? {} };
  }
}

async function readable<T>(what: string, request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (cause) {
    if (isNotFound(cause)) return undefined;
    throw new BrokenReference(`${what} cannot be read: ${errorMessage(cause)}`, { cause });
  }
}

/** Asks the server what an object's owners are. Those found absent are remembered: uids never return. */
import { type ApiObject, BoundedMap, isNotFound, type RestClient } from '@orch/client';
import type { OwnerReference } from '@orch/types/meta/v1';
import { foregroundFinalizer } from './owner-graph.js';
import type { ResourceSet } from './resource-set.js';
import type { OwnerState } from './verdict.js';

const absentCountMax = 500;

/** A reference that can never be followed; the object is left alone. */
export class UnresolvableOwnerError extends Error {
  override readonly name = 'UnresolvableOwnerError';
}

export class OwnerStates {
  private readonly absent = new BoundedMap<true>(absentCountMax);

  constructor(
    private readonly client: RestClient,
    private readonly resources: ResourceSet,
  ) {}

  /** @param namespace of the object that refers to the owner. */
  async stateOf(reference: OwnerReference, namespace: string): Promise<OwnerState> {
    const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
    const key = [apiVersion, kind, namespace, name, uid].join('|');
    if (this.absent.get(key)) return 'absent';
    const resource = this.resources.resourceOf(apiVersion, kind);
    if (!resource) throw new Error(`no resource is served for owner kind ${apiVersion} ${kind}`);
    if (resource.namespaced && namespace === '') {
      throw new UnresolvableOwnerError(
        `a cluster-scoped object refers to ${kind} ${name}, which has a namespace`,
      );
    }
    const handle = this.client.metadata(resource, resource.namespaced ? namespace : undefined);
    let owner: ApiObject;
    try {
      owner = await handle.get(name);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.absent.set(key, true);
      return 'absent';
    }
    if (owner.metadata?.uid !== uid) {
      this.absent.set(key, true);
      return 'absent';
    }
    const isWaiting =
      owner.metadata.deletionTimestamp &&
      (owner.metadata.finalizers ?? []).includes(foregroundFinalizer);
    return isWaiting ? 'waiting' : 'solid';
  }
}

/**
 * Reads the state of owners from the server. Absent owners are cached, because a uid is never
 * reused.
 */
import { type ApiClient, type ApiObject, isNotFound } from '@orch/client';
import type { OwnerReference } from '@orch/types/meta/v1';
import { LRUCache } from 'lru-cache';
import type { OwnerState } from './deletion-decision.js';
import { foregroundFinalizer } from './owner-graph.js';
import type { ResourceSet } from './resource-set.js';

const absentCountMax = 500;

/** An owner reference that can never resolve; the object is not deleted. */
export class UnresolvableOwnerError extends Error {
  override readonly name = 'UnresolvableOwnerError';
}

export class OwnerStates {
  private readonly absent = new LRUCache<string, true>({ max: absentCountMax });

  constructor(
    private readonly client: ApiClient,
    private readonly resources: ResourceSet,
  ) {}

  /** @param namespace the namespace of the dependent. */
  async stateOf(reference: OwnerReference, namespace: string): Promise<OwnerState> {
    const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
    const key = [apiVersion, kind, namespace, name, uid].join('|');
    if (this.absent.get(key)) return 'absent';
    const resource = this.resources.resourceOf(apiVersion, kind);
    if (!resource)
      throw new Error(`the server serves no resource for owner kind ${apiVersion} ${kind}`);
    if (resource.namespaced && namespace === '') {
      throw new UnresolvableOwnerError(
        `a cluster-scoped object has the namespaced owner ${kind} ${name}`,
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

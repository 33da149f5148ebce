/** The lock of an election, by the resource that `--leader-elect-resource-lock` names. */
import type { LeaderElectionLock } from '@orch/component';
import { resources } from '../generated/resources.js';
import type { ApiObject } from '../objects.js';
import type { ApiClient } from '../rest/api-client.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import { DoubleLock } from './double-lock.js';
import type { ElectionLock } from './election-lock.js';
import { annotationFormat, leaseFormat, ObjectLock } from './object-lock.js';

interface LockOptions {
  readonly client: ApiClient;
  readonly resourceLock: LeaderElectionLock;
  readonly namespace: string;
  readonly name: string;
  readonly servingUrl: string | undefined;
}

export function createLock(options: LockOptions): ElectionLock {
  const { client, namespace, name, servingUrl } = options;
  const inAnnotation = (resource: ResourceRef<ApiObject>) =>
    new ObjectLock({
      objects: client.resource(resource, namespace),
      name,
      format: annotationFormat,
      servingUrl,
    });
  const inLease = () =>
    new ObjectLock({
      objects: client.resource(resources.leases, namespace),
      name,
      format: leaseFormat,
      servingUrl,
    });
  const create: Readonly<Record<LeaderElectionLock, () => ElectionLock>> = {
    leases: inLease,
    endpoints: () => inAnnotation(resources.endpoints),
    configmaps: () => inAnnotation(resources.configMaps),
    endpointsleases: () => new DoubleLock(inAnnotation(resources.endpoints), inLease()),
    configmapsleases: () => new DoubleLock(inAnnotation(resources.configMaps), inLease()),
  };
  return create[options.resourceLock]();
}

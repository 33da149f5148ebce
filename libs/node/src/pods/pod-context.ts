/** What pod workers share: the parts they act through and the facts of the node. */

import { join } from 'node:path';
import type { EventRecorder, ObjectReference } from '@orch/client';
import type { Clock, Logger } from '@orch/component';
import type { Pod, Service } from '@orch/types/core/v1';
import type { AccountTokens } from '../environment/account-tokens.js';
import type { NodeAllocatable } from '../environment/pod-fields.js';
import type { ReferencedObjects } from '../environment/referenced-objects.js';
import type { Prober } from '../probes/prober.js';
import type { ContainerRuntime } from '../runtimes/container-runtime.js';
import type { StatusManager } from '../status/status-manager.js';
import type { RestartBackoff } from './restart-backoff.js';

export interface PodContext {
  readonly runtime: ContainerRuntime;
  /** `process`, `containerd`, ...: scheme of container ids. */
  readonly runtimeName: string;
  readonly prober: Prober;
  readonly objects: ReferencedObjects;
  readonly accountTokens: AccountTokens;
  readonly statuses: StatusManager;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly backoff: RestartBackoff;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hostIp: string;
  readonly allocatable: NodeAllocatable;
  /** Holds one directory a pod, by uid. */
  readonly podsDirectory: string;
  readonly logsDirectory: string;
  services(): readonly Service[];
}

export function podDirectory(context: PodContext, uid: string): string {
  return join(context.podsDirectory, uid);
}

/** `<namespace>_<name>_<uid>`, as tools that collect logs know it. */
export function podLogDirectory(
  context: PodContext,
  pod: { namespace: string; name: string; uid: string },
): string {
  return join(context.logsDirectory, `${pod.namespace}_${pod.name}_${pod.uid}`);
}

export interface PodIdentityFields {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

export function identityOf(pod: Pod): PodIdentityFields {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  return { uid, namespace, name };
}

export function podReference(pod: PodIdentityFields, container?: string): ObjectReference {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    ...pod,
    ...(container === undefined ? {} : { fieldPath: `spec.containers{${container}}` }),
  };
}

/** `name_namespace(uid)`, the way messages name a pod. */
export function podTitle({ name, namespace, uid }: PodIdentityFields): string {
  return `${name}_${namespace}(${uid})`;
}

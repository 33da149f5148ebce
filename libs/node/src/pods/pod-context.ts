/** What pod workers share: the parts they act through and the machine of the node. */

import { join } from 'node:path';
import type { EventRecorder, ObjectReference } from '@orch/client';
import type { Clock, Logger } from '@orch/component';
import type { Pod, Service } from '@orch/types/core/v1';
import type { AccountTokens } from '../environment/account-tokens.js';
import type { NodeAllocatable } from '../environment/pod-fields.js';
import type { ReferencedObjects } from '../environment/referenced-objects.js';
import type { Prober } from '../probes/prober.js';
import type { ContainerRuntime, PodIdentity } from '../runtimes/container-runtime.js';
import type { StatusManager } from '../status/status-manager.js';
import type { ClaimReader } from '../volumes/claim-mounts.js';
import type { RestartBackoff } from './restart-backoff.js';

export interface PodContext {
  readonly runtime: ContainerRuntime;
  /** The scheme of container ids: `process`, `containerd`, ... */
  readonly runtimeName: string;
  readonly prober: Prober;
  readonly objects: ReferencedObjects;
  readonly claims: ClaimReader;
  readonly accountTokens: AccountTokens;
  readonly statuses: StatusManager;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly backoff: RestartBackoff;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hostIp: string;
  readonly allocatable: NodeAllocatable;
  /** Contains one directory per pod, by uid. */
  readonly podsDirectory: string;
  readonly logsDirectory: string;
  services(): readonly Service[];
}

export function podDirectory(context: PodContext, uid: string): string {
  return join(context.podsDirectory, uid);
}

/** Returns the log directory `<namespace>_<name>_<uid>`, whose name log collectors rely on. */
export function podLogDirectory(context: PodContext, pod: PodIdentity): string {
  return join(context.logsDirectory, `${pod.namespace}_${pod.name}_${pod.uid}`);
}

export function identityOf(pod: Pod): PodIdentity {
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  return { uid, namespace, name };
}

export function podReference(pod: PodIdentity, container?: string): ObjectReference {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    ...pod,
    ...(container === undefined ? {} : { fieldPath: `spec.containers{${container}}` }),
  };
}

/** Formats a pod for messages: `name_namespace(uid)`. */
export function podTitle({ name, namespace, uid }: PodIdentity): string {
  return `${name}_${namespace}(${uid})`;
}

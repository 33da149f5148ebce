/** Workloads that have rollouts, and the requests of the rollout commands for them. */
import type { ApiObject, ResourceClient } from '@orch/client';
import type { DaemonSet, Deployment, StatefulSet } from '@orch/types/apps/v1';
import { CliError } from '../command-line/errors.js';
import type { ResourceType } from '../session/catalog.js';
import { singularTypeName } from '../session/catalog.js';
import type { Session } from '../session/session.js';

export interface WorkloadReference {
  readonly session: Session;
  readonly type: ResourceType;
  readonly name: string;
}

export type Workload =
  | { readonly kind: 'Deployment'; readonly object: Deployment }
  | { readonly kind: 'DaemonSet'; readonly object: DaemonSet }
  | { readonly kind: 'StatefulSet'; readonly object: StatefulSet };

export function titleOfWorkload({ type, name }: WorkloadReference): string {
  return `${singularTypeName(type)}/${name}`;
}

export function clientOf({ session, type }: WorkloadReference): ResourceClient<ApiObject> {
  return session.client.resource(type, session.namespace);
}

/** Throws `CliError` for types that have no rollouts. */
export async function readWorkload(reference: WorkloadReference): Promise<Workload> {
  requireWorkload(reference.type);
  return workloadOf(reference.type, await clientOf(reference).get(reference.name));
}

export function workloadOf(type: ResourceType, object: ApiObject): Workload {
  // The description of an object, whose type is the requested one.
  return { kind: requireWorkload(type), object } as Workload;
}

function requireWorkload({ kind, groupName }: ResourceType): Workload['kind'] {
  if (groupName === 'apps') {
    if (kind === 'Deployment' || kind === 'DaemonSet' || kind === 'StatefulSet') return kind;
  }
  throw new CliError(`${kind} has no rollouts: want a deployment, daemonset or statefulset`);
}

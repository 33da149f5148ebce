/** The workloads that roll out, and what the commands about rollouts need of them. */
import type { ApiObject, ResourceClient } from '@orch/client';
import type { DaemonSet, Deployment, StatefulSet } from '@orch/types/apps/v1';
import type { ResourceType } from '../catalog.js';
import { singularTypeName } from '../catalog.js';
import { CliError } from '../errors.js';
import type { Session } from '../session.js';

export interface Named {
  readonly session: Session;
  readonly type: ResourceType;
  readonly name: string;
}

export type Workload =
  | { readonly kind: 'Deployment'; readonly object: Deployment }
  | { readonly kind: 'DaemonSet'; readonly object: DaemonSet }
  | { readonly kind: 'StatefulSet'; readonly object: StatefulSet };

export function titleOfNamed({ type, name }: Named): string {
  return `${singularTypeName(type)}/${name}`;
}

export function clientOf({ session, type }: Named): ResourceClient<ApiObject> {
  return session.client.resource(type, session.namespace);
}

/** Throws `CliError` for types that have no rollouts. */
export async function readWorkload(named: Named): Promise<Workload> {
  requireWorkload(named.type);
  return workloadOf(named.type, await clientOf(named).get(named.name));
}

export function workloadOf(type: ResourceType, object: ApiObject): Workload {
  // The server answers with objects of the type that was asked for.
  return { kind: requireWorkload(type), object } as Workload;
}

function requireWorkload({ kind, groupName }: ResourceType): Workload['kind'] {
  if (groupName === 'apps') {
    if (kind === 'Deployment' || kind === 'DaemonSet' || kind === 'StatefulSet') return kind;
  }
  throw new CliError(`${kind} has no rollouts: want a deployment, daemonset or statefulset`);
}

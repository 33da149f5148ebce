/**
 * The revisions of a workload: replica sets of a deployment, controller revisions of the others.
 */
import { isControlledBy } from '@orch/apimachinery';
import { type ApiObject, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { ControllerRevision } from '@orch/types/apps/v1';
import type { PodTemplateSpec } from '@orch/types/core/v1';
import { selectorText } from '../resources/workload-pods.js';
import type { Workload, WorkloadReference } from './workload.js';

export interface Revision {
  readonly number: number;
  readonly template: PodTemplateSpec;
  readonly changeCause: string;
  /** The strategic merge patch that restores the revision of a daemon set or stateful set. */
  readonly patch?: unknown;
}

interface RevisionData {
  readonly spec?: { readonly template?: PodTemplateSpec };
}

export function revisionKey(): string {
  return dialect().key('revision', 'deployment');
}

/** Oldest first. */
export async function revisionsOf(
  reference: WorkloadReference,
  workload: Workload,
): Promise<Revision[]> {
  const { client, namespace } = reference.session;
  const labelSelector = selectorText(workload.object.spec?.selector);
  const isOwned = (object: ApiObject) => isControlledBy(object, workload.object);
  const revisions =
    workload.kind === 'Deployment'
      ? (await client.resource(resources.replicaSets, namespace).listAll({ labelSelector })).items
          .filter(isOwned)
          .map((set) => ({
            number: Number(set.metadata?.annotations?.[revisionKey()] ?? 0),
            template: set.spec?.template ?? {},
            changeCause: causeOf(set),
          }))
      : (
          await client.resource(resources.controllerRevisions, namespace).listAll({ labelSelector })
        ).items
          .filter(isOwned)
          .map(fromControllerRevision);
  return revisions.sort((a, b) => a.number - b.number);
}

function fromControllerRevision(revision: ControllerRevision): Revision {
  const data = revision.data as RevisionData | undefined;
  return {
    number: Number(revision.revision ?? 0),
    template: data?.spec?.template ?? {},
    changeCause: causeOf(revision),
    patch: data,
  };
}

function causeOf(object: ApiObject): string {
  return object.metadata?.annotations?.[dialect().key('change-cause')] || '<none>';
}

/** Rolls a workload back to the pod template of an earlier revision. */
import { deepEqual } from '@orch/apimachinery';
import type { PodTemplateSpec } from '@orch/types/core/v1';
import { CliError } from '../command-line/errors.js';
import { type Revision, revisionsOf } from './revisions.js';
import {
  clientOf,
  readWorkload,
  titleOfWorkload,
  type Workload,
  type WorkloadReference,
} from './workload.js';

/** Rolls back to `revision`, or to the previous one if it is 0. Returns the line to print. */
export async function undo(reference: WorkloadReference, revision: number): Promise<string> {
  const workload = await readWorkload(reference);
  if (workload.kind === 'Deployment' && workload.object.spec?.paused) {
    throw new CliError(
      `you cannot roll back a paused deployment; resume it first with 'orchctl rollout resume ${titleOfWorkload(reference)}' and try again`,
    );
  }
  const target = targetOf(await revisionsOf(reference, workload), revision);
  const template = withoutHash(target.template);
  if (deepEqual(template, workload.object.spec?.template)) {
    return `${titleOfWorkload(reference)} skipped rollback (current template already matches revision ${target.number})`;
  }
  const client = clientOf(reference);
  if (target.patch !== undefined) {
    await client.patch(reference.name, target.patch, { type: 'strategic' });
  } else await replaceTemplate(reference, workload, template);
  return `${titleOfWorkload(reference)} rolled back`;
}

/** The patch tests the resource version, so that a concurrent change is not lost. */
async function replaceTemplate(
  reference: WorkloadReference,
  workload: Workload,
  template: PodTemplateSpec,
): Promise<void> {
  const { resourceVersion } = workload.object.metadata ?? {};
  await clientOf(reference).patch(
    reference.name,
    [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'replace', path: '/spec/template', value: template },
    ],
    { type: 'json' },
  );
}

function targetOf(revisions: readonly Revision[], number: number): Revision {
  const target =
    number > 0 ? revisions.find((revision) => revision.number === number) : revisions.at(-2);
  if (target) return target;
  throw new CliError(
    number > 0
      ? `unable to find specified revision ${number} in history`
      : 'no rollout history found to roll back to',
  );
}

/** The template without the hash label, which belongs to the revision. */
function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { 'pod-template-hash': _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Going back to an earlier revision: its pod template becomes the workload's own again. */
import { deepEqual } from '@orch/apimachinery';
import type { PodTemplateSpec } from '@orch/types/core/v1';
import { CliError } from '../errors.js';
import { type Revision, revisionsOf } from './revisions.js';
import { clientOf, type Named, readWorkload, titleOfNamed, type Workload } from './workload.js';

/** `revision` 0 is the one before the current. Gives the line to print. */
export async function undo(named: Named, revision: number): Promise<string> {
  const workload = await readWorkload(named);
  if (workload.kind === 'Deployment' && workload.object.spec?.paused) {
    throw new CliError(
      `you cannot roll back a paused deployment; resume it first with 'orchctl rollout resume ${titleOfNamed(named)}' and try again`,
    );
  }
  const target = targetOf(await revisionsOf(named, workload), revision);
  const template = withoutHash(target.template);
  if (deepEqual(template, workload.object.spec?.template)) {
    return `${titleOfNamed(named)} skipped rollback (current template already matches revision ${target.number})`;
  }
  const client = clientOf(named);
  if (target.patch !== undefined) {
    await client.patch(named.name, target.patch, { type: 'strategic' });
  } else await replaceTemplate(named, workload, template);
  return `${titleOfNamed(named)} rolled back`;
}

/** Tests the version, so that a change in between is not lost. */
async function replaceTemplate(
  named: Named,
  workload: Workload,
  template: PodTemplateSpec,
): Promise<void> {
  const { resourceVersion } = workload.object.metadata ?? {};
  await clientOf(named).patch(
    named.name,
    [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'replace', path: '/spec/template', value: template },
    ],
    { type: 'json' },
  );
}

function targetOf(revisions: readonly Revision[], wanted: number): Revision {
  const target = wanted > 0 ? revisions.find((one) => one.number === wanted) : revisions.at(-2);
  if (target) return target;
  throw new CliError(
    wanted > 0
      ? `unable to find specified revision ${wanted} in history`
      : 'no rollout history found to go back to',
  );
}

/** The label that tells the pods of revisions apart belongs to the revision, not to the template. */
function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { 'pod-template-hash': _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

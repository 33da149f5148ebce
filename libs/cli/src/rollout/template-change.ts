/** Restarts, pauses and resumes a workload. */
import { formatTime } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { CliError } from '../command-line/errors.js';
import { clientOf, readWorkload, titleOfWorkload, type WorkloadReference } from './workload.js';

/** Restarts all pods of the workload. Returns the line to print. */
export async function restart(reference: WorkloadReference): Promise<string> {
  const workload = await readWorkload(reference);
  if (workload.kind === 'Deployment' && workload.object.spec?.paused) {
    throw new CliError("can't restart a paused deployment (run rollout resume first)");
  }
  const restartedAt = formatTime(Date.now());
  const annotations = { [dialect().key('restartedAt', 'kubectl')]: restartedAt };
  const patch = { spec: { template: { metadata: { annotations } } } };
  await clientOf(reference).patch(reference.name, patch, { type: 'strategic' });
  return `${titleOfWorkload(reference)} restarted`;
}

export async function setPaused(reference: WorkloadReference, paused: boolean): Promise<string> {
  const workload = await readWorkload(reference);
  const word = paused ? 'paused' : 'resumed';
  if (workload.kind !== 'Deployment') {
    throw new CliError(`${titleOfWorkload(reference)}: only deployments can be ${word}`);
  }
  if ((workload.object.spec?.paused ?? false) === paused) {
    throw new CliError(
      `${titleOfWorkload(reference)} is ${paused ? 'already paused' : 'not paused'}`,
    );
  }
  await clientOf(reference).patch(
    reference.name,
    { spec: { paused: paused ? true : null } },
    {
      type: 'merge',
    },
  );
  return `${titleOfWorkload(reference)} ${word}`;
}

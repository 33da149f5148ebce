/** Starting all pods anew, pausing and resuming: small changes of the workload. */
import { formatTime } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { CliError } from '../errors.js';
import { clientOf, type Named, readWorkload, titleOfNamed } from './workload.js';

/** Gives the line to print. */
export async function restart(named: Named): Promise<string> {
  const workload = await readWorkload(named);
  if (workload.kind === 'Deployment' && workload.object.spec?.paused) {
    throw new CliError("can't restart a paused deployment (run rollout resume first)");
  }
  const restartedAt = formatTime(Date.now());
  const annotations = { [dialect().key('restartedAt', 'kubectl')]: restartedAt };
  const patch = { spec: { template: { metadata: { annotations } } } };
  await clientOf(named).patch(named.name, patch, { type: 'strategic' });
  return `${titleOfNamed(named)} restarted`;
}

export async function setPaused(named: Named, paused: boolean): Promise<string> {
  const workload = await readWorkload(named);
  const word = paused ? 'paused' : 'resumed';
  if (workload.kind !== 'Deployment') {
    throw new CliError(`${titleOfNamed(named)}: only deployments can be ${word}`);
  }
  if ((workload.object.spec?.paused ?? false) === paused) {
    throw new CliError(`${titleOfNamed(named)} is ${paused ? 'already paused' : 'not paused'}`);
  }
  await clientOf(named).patch(
    named.name,
    { spec: { paused: paused ? true : null } },
    {
      type: 'merge',
    },
  );
  return `${titleOfNamed(named)} ${word}`;
}

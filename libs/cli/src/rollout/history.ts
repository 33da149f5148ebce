/** The revision history of a workload, and the details of one revision. */
import { CliError } from '../command-line/errors.js';
import { yamlText } from '../output/object-text.js';
import { TableWriter } from '../output/table.js';
import { revisionsOf } from './revisions.js';
import { readWorkload, titleOfWorkload, type WorkloadReference } from './workload.js';

export async function history(reference: WorkloadReference): Promise<string> {
  const revisions = await revisionsOf(reference, await readWorkload(reference));
  if (revisions.length === 0) return `${titleOfWorkload(reference)}\nNo rollout history found.\n`;
  const rows = revisions.map(({ number, changeCause }) => [String(number), changeCause]);
  const table = new TableWriter().format([['REVISION', 'CHANGE-CAUSE'], ...rows]);
  return `${titleOfWorkload(reference)}\n${table}\n`;
}

export async function revisionDetails(
  reference: WorkloadReference,
  number: number,
): Promise<string> {
  const revisions = await revisionsOf(reference, await readWorkload(reference));
  const revision = revisions.find((candidate) => candidate.number === number);
  if (!revision) throw new CliError(`unable to find the specified revision ${number}`);
  return `${titleOfWorkload(reference)} with revision #${number}\n${yamlText(revision.template)}`;
}

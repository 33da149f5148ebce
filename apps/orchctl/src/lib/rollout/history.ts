/** The list of revisions, and one of them in full. */
import { CliError } from '../errors.js';
import { yamlText } from '../output.js';
import { TableWriter } from '../table.js';
import { revisionsOf } from './revisions.js';
import { type Named, readWorkload, titleOfNamed } from './workload.js';

export async function history(named: Named): Promise<string> {
  const revisions = await revisionsOf(named, await readWorkload(named));
  if (revisions.length === 0) return `${titleOfNamed(named)}\nNo rollout history found.\n`;
  const rows = revisions.map(({ number, changeCause }) => [String(number), changeCause]);
  const table = new TableWriter().format([['REVISION', 'CHANGE-CAUSE'], ...rows]);
  return `${titleOfNamed(named)}\n${table}\n`;
}

export async function revisionDetails(named: Named, number: number): Promise<string> {
  const revisions = await revisionsOf(named, await readWorkload(named));
  const revision = revisions.find((one) => one.number === number);
  if (!revision) throw new CliError(`unable to find the specified revision ${number}`);
  return `${titleOfNamed(named)} with revision #${number}\n${yamlText(revision.template)}`;
}

/**
 * Ends processes of a cluster whose supervisor is gone: in reverse order, first asked, then killed. Pods
 * and service addresses either stay, for the next processes to take over, or go too.
 */
import { killTimeoutMs, stopTimeoutMs } from './limits.js';
import { allEnded, isAlive, type ProcessIdentity, signalProcess } from './process-identity.js';
import { type ChildRecord, recordedChildren } from './run-state.js';
import { tearDown } from './teardown.js';

/** Names of the processes that had to be ended. */
export async function stopLeftovers(
  dataDirectory: string,
  rest: 'keep' | 'remove',
): Promise<string[]> {
  const ended: string[] = [];
  const end = async (record: ChildRecord) => {
    const { identity, name, hasTeardown } = record;
    if (identity && isAlive(identity)) {
      // Who is asked to end takes everything along; who is killed leaves it.
      if (hasTeardown && rest === 'keep') await killProcess(identity);
      else await endProcess(identity, stopTimeoutMs);
      ended.push(name);
    }
    if (hasTeardown && rest === 'remove') await tearDown(dataDirectory, record);
  };
  const records = recordedChildren(dataDirectory).reverse();
  const isServer = ({ component }: ChildRecord) => component === 'apiserver';
  for (const record of records) if (!isServer(record)) await end(record);
  // Together: one by one, all that come after the majority has ended would wait for it in turn.
  await Promise.all(records.filter(isServer).map(end));
  return ended;
}

/** SIGTERM, and SIGKILL after `timeoutMs`. */
export async function endProcess(identity: ProcessIdentity, timeoutMs: number): Promise<void> {
  signalProcess(identity, 'SIGTERM');
  if (!(await allEnded([identity], timeoutMs))) await killProcess(identity);
}

async function killProcess(identity: ProcessIdentity): Promise<void> {
  signalProcess(identity, 'SIGKILL');
  if (!(await allEnded([identity], killTimeoutMs))) {
    throw new Error(`process ${identity.pid} does not end even when killed`);
  }
}

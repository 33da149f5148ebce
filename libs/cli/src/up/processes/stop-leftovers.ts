/**
 * Stops the processes that a killed supervisor left, in reverse order: SIGTERM, then SIGKILL. Pods
 * and service addresses either stay for the next processes or are removed.
 */
import { killTimeoutMs, stopTimeoutMs } from '../cluster/limits.js';
import {
  allEnded,
  isAlive,
  type ProcessIdentity,
  processWith,
  signalProcess,
} from './process-identity.js';
import { type ChildRecord, recordedChildren } from './run-state.js';
import { tearDown } from './teardown.js';

/** Returns the names of the stopped processes. */
export async function stopLeftovers(
  dataDirectory: string,
  rest: 'keep' | 'remove',
): Promise<string[]> {
  const ended: string[] = [];
  const end = async (record: ChildRecord) => {
    const { name, hasTeardown, shared } = record;
    const identity = runningProcess(record);
    if (identity) {
      // SIGTERM makes the process remove its pods or addresses, SIGKILL does not.
      if ((hasTeardown || shared) && rest === 'keep') await killProcess(identity);
      else await endProcess(identity, stopTimeoutMs);
      ended.push(name);
    }
    if (hasTeardown && rest === 'remove') await tearDown(dataDirectory, record);
  };
  const records = recordedChildren(dataDirectory).reverse();
  const isServer = ({ component }: ChildRecord) => component === 'apiserver';
  for (const record of records) if (!isServer(record)) await end(record);
  // Concurrently, because a server that stops after the majority waits for a leader until its
  // timeout.
  await Promise.all(records.filter(isServer).map(end));
  return ended;
}

/** Searches for a process that its supervisor had started, but not yet recorded. */
function runningProcess({ identity, shared, ...own }: ChildRecord): ProcessIdentity | undefined {
  if (identity && isAlive(identity)) return identity;
  const { main, args } = shared ?? own;
  return processWith(main, args);
}

/** Sends SIGTERM, and SIGKILL after `timeoutMs`. */
export async function endProcess(identity: ProcessIdentity, timeoutMs: number): Promise<void> {
  signalProcess(identity, 'SIGTERM');
  if (!(await allEnded([identity], timeoutMs))) await killProcess(identity);
}

async function killProcess(identity: ProcessIdentity): Promise<void> {
  signalProcess(identity, 'SIGKILL');
  if (!(await allEnded([identity], killTimeoutMs))) {
    throw new Error(`process ${identity.pid} has not exited after SIGKILL`);
  }
}

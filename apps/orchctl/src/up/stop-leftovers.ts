/**
 * Ends processes of a cluster whose supervisor is gone: in reverse order, first asked, then killed. The
 * pods of node agents either go on, for the next agents to take over, or are ended with them.
 */
import { killTimeoutMs, stopTimeoutMs } from './limits.js';
import { allEnded, isAlive, type ProcessIdentity, signalProcess } from './process-identity.js';
import { recordedChildren } from './run-state.js';
import { teardownNode } from './teardown-node.js';

/** Names of the processes that had to be ended. */
export async function stopLeftovers(
  dataDirectory: string,
  pods: 'keep' | 'end',
): Promise<string[]> {
  const ended: string[] = [];
  for (const record of recordedChildren(dataDirectory).reverse()) {
    const { identity, name, component } = record;
    const isAgent = component === 'node-agent';
    if (identity && isAlive(identity)) {
      // An agent that is asked to end takes its pods with it; one that is killed leaves them.
      if (isAgent && pods === 'keep') await killProcess(identity);
      else await endProcess(identity, stopTimeoutMs);
      ended.push(name);
    }
    if (isAgent && pods === 'end') await teardownNode(dataDirectory, record);
  }
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

/** Ends processes of a cluster whose supervisor is gone: in reverse order, first asked, then killed. */
import { killTimeoutMs, stopTimeoutMs } from './limits.js';
import { allEnded, type ProcessIdentity, signalProcess } from './process-identity.js';
import { liveChildren } from './run-state.js';

/** Names of the processes that had to be ended. */
export async function stopLeftovers(dataDirectory: string): Promise<string[]> {
  const children = liveChildren(dataDirectory).reverse();
  for (const child of children) await endProcess(child, stopTimeoutMs);
  return children.map((child) => child.name);
}

/** SIGTERM, and SIGKILL after `timeoutMs`. */
export async function endProcess(identity: ProcessIdentity, timeoutMs: number): Promise<void> {
  signalProcess(identity, 'SIGTERM');
  if (await allEnded([identity], timeoutMs)) return;
  signalProcess(identity, 'SIGKILL');
  if (!(await allEnded([identity], killTimeoutMs))) {
    throw new Error(`process ${identity.pid} does not end even when killed`);
  }
}

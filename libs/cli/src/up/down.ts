/**
 * `orchctl down`: stops the cluster of a data directory, whether its supervisor runs in a terminal,
 * in the background, or was killed and left its children. Idempotent.
 */
import { existsSync, statSync } from 'node:fs';
import { hasCluster } from './cluster/cluster-directory.js';
import { downTimeoutMs } from './cluster/limits.js';
import { UserError } from './cluster/user-error.js';
import {
  forgetChildren,
  liveSupervisor,
  recordedChildren,
  releaseDirectory,
} from './processes/run-state.js';
import { endProcess, stopLeftovers } from './processes/stop-leftovers.js';
import type { DownOptions } from './up-options.js';

export async function down(options: DownOptions): Promise<number> {
  const { dataDirectory } = options;
  if (existsSync(dataDirectory) && !statSync(dataDirectory).isDirectory()) {
    throw new UserError(`${dataDirectory} is not a directory; choose another with --data-dir`);
  }
  if (!hasCluster(dataDirectory)) {
    process.stdout.write(`nothing runs in ${dataDirectory}: no cluster exists\n`);
    return 0;
  }
  const supervisor = liveSupervisor(dataDirectory);
  if (supervisor) {
    process.stdout.write(`stopping the cluster in ${dataDirectory} ...\n`);
    await endProcess(supervisor, downTimeoutMs);
  }
  const hadLeftovers = recordedChildren(dataDirectory).length > 0;
  await stopLeftovers(dataDirectory, 'remove');
  forgetChildren(dataDirectory);
  releaseDirectory(dataDirectory);
  const what = supervisor || hadLeftovers ? 'stopped' : `nothing runs in ${dataDirectory}`;
  process.stdout.write(`${what}\n`);
  return 0;
}

/** SIGKILL of an API server, which the supervisor starts again. */
import type { Api } from './api.js';
import type { Cluster } from './cluster.js';
import { componentProcesses } from './pods.js';
import { eventually } from './wait.js';

/** Pid of the first API server, or of the one with this number. */
export function apiServerProcess(cluster: Cluster, ordinal = 1): number {
  const [pid] = find(cluster, ordinal);
  if (pid === undefined) throw new Error(`API server ${ordinal} does not run`);
  return pid;
}

/** Kills the first one and waits until its replacement is ready. */
export async function killApiServer(cluster: Cluster, api: Api): Promise<void> {
  const victim = apiServerProcess(cluster);
  process.kill(victim, 'SIGKILL');
  await apiServerReplaced(cluster, 1, victim);
  await eventually('the API server to be ready', async () => {
    return (await api.text('GET', '/readyz')).status === 200;
  });
}

/** Waits until another process replaces `victim`. */
export async function apiServerReplaced(
  cluster: Cluster,
  ordinal: number,
  victim: number,
): Promise<void> {
  await eventually('the API server to be started again', () => {
    const [pid] = find(cluster, ordinal);
    return pid !== undefined && pid !== victim;
  });
}

function find(cluster: Cluster, ordinal: number): number[] {
  const argument = `--member-name=apiserver-${ordinal}`;
  return componentProcesses('apiserver', cluster.dataDirectory, argument);
}

/** SIGKILL of the API server, and its return by the supervisor's hand. */
import type { Api } from './api.js';
import type { Cluster } from './cluster.js';
import { componentProcess } from './pods.js';
import { eventually } from './wait.js';

/** Pid of the API server that runs now. */
export function apiServerProcess(cluster: Cluster): number {
  const pid = componentProcess('apiserver', cluster.dataDirectory);
  if (pid === undefined) throw new Error('no API server runs');
  return pid;
}

/** Kills it, waits until another process answers in its place. */
export async function killApiServer(cluster: Cluster, api: Api): Promise<void> {
  const victim = apiServerProcess(cluster);
  process.kill(victim, 'SIGKILL');
  await eventually('the API server to be started again and ready', async () => {
    const pid = componentProcess('apiserver', cluster.dataDirectory);
    if (pid === undefined || pid === victim) return false;
    return (await api.text('GET', '/readyz')).status === 200;
  });
}

/** Writes objects outside the load at the maximum rate. */
import { collectionPath } from '../load/keys.js';
import type { ChaosCluster } from './chaos-cluster.js';
import { NoResponse, ServerClient } from './server-client.js';
import { sleep } from './wait.js';

const writersAtOnce = 64;
const objectCount = 16;
const askEveryMs = 1_000;

/** Writes until `isEnough` returns true. Returns how many writes were acknowledged. */
export async function writeUntil(
  cluster: ChaosCluster,
  fillerBytes: number,
  timeoutMs: number,
  isEnough: () => Promise<boolean>,
): Promise<number> {
  const client = new ServerClient(cluster.certificates.authorityPem, writersAtOnce);
  const filler = 'x'.repeat(fillerBytes);
  const untilMs = performance.now() + timeoutMs;
  const servers = cluster.responsive();
  let isDone = false;
  let count = 0;
  const write = async (writer: number) => {
    const { url } = servers[writer % servers.length]!;
    const path = `${url}${collectionPath('configmaps')}`;
    for (let turn = 0; !isDone; turn += 1) {
      const name = `burst-${writer % objectCount}`;
      const body = { metadata: { name }, data: { turn: `${writer}.${turn}`, filler } };
      try {
        const patched = await client.send('PATCH', `${path}/${name}`, {
          body,
          contentType: 'application/merge-patch+json',
        });
        if (patched.status === 404) await client.send('POST', path, { body });
        if (patched.status === 200) count += 1;
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
      }
    }
  };
  const writers = Array.from({ length: writersAtOnce }, (_, writer) => write(writer));
  try {
    while (!(await isEnough())) {
      if (performance.now() > untilMs) throw new Error(`${count} writes were not enough`);
      await sleep(askEveryMs);
    }
  } finally {
    isDone = true;
    await Promise.all(writers);
    await client.close();
  }
  return count;
}

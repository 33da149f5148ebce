/** Creates by more and more connections of one client to one server. */
import { megabytes, rate, withServer } from './rates.mjs';

const namespace = 'writers';

/** Calls `add` with each point. */
export async function measureWriters({ sizes, runMs, warmUpMs }, add) {
  await withServer(async ({ server, load }) => {
    await server.createNamespace(namespace);
    const creates = { create: namespace, connectionCount: 32 };
    await rate(server, load, { ...creates, runMs: warmUpMs });
    for (const writers of sizes) {
      const settings = { ...creates, connectionCount: writers };
      await rate(server, load, { ...settings, runMs: runMs / 4 });
      const figures = await rate(server, load, { ...settings, runMs });
      add({ writers, ...figures, memoryMb: megabytes(server.residentBytes()) });
    }
  });
}

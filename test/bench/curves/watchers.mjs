/** Fan-out of one server to more and more watchers, each with a connection of its own. */
import { performance } from 'node:perf_hooks';
import { Load } from '../load.mjs';
import { megabytes, withServer } from './rates.mjs';

const eventCountMax = 300;

async function throughput({ server, load, writer, namespace }, watchers, { deliveryCount }) {
  const eventCount = Math.max(1, Math.min(eventCountMax, Math.round(deliveryCount / watchers)));
  const before = server.cpuUs();
  const startedMs = performance.now();
  const settings = { create: namespace, objectCount: eventCount, connectionCount: 16 };
  const fill = writer.run('fill', settings);
  const deliveries = eventCount * watchers;
  await load.run('watched', { eventCount: deliveries });
  const seconds = (performance.now() - startedMs) / 1_000;
  await fill;
  return {
    deliveriesPerSecond: deliveries / seconds,
    cpuUsPerDelivery: (server.cpuUs() - before) / deliveries,
  };
}

/** Calls `add` with each point. */
export async function measureWatchers(settings, add) {
  await withServer(async (bench) => {
    const { server, load } = bench;
    const writer = new Load({ ...server, prefix: 'burst' });
    try {
      await writer.ready;
      for (const watchers of settings.sizes) {
        // The objects of the sizes before would be the initial state of the watches.
        const namespace = `watched-${watchers}`;
        await server.createNamespace(namespace);
        await load.run('watch', { namespace, watcherCount: watchers });
        await server.loopDelay();
        const memoryMb = megabytes(server.residentBytes());
        const figures = await throughput({ ...bench, writer, namespace }, watchers, settings);
        const { p99Ms: loopP99Ms } = await server.loopDelay();
        const single = { create: namespace, eventCount: settings.singleEvents };
        const { p50Ms, p99Ms } = await load.run('deliveries', single);
        add({ watchers, ...figures, p50Ms, p99Ms, loopP99Ms, memoryMb });
      }
    } finally {
      await writer.stop();
    }
  });
}

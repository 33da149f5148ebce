/** Fan-out of one server to more and more watchers, each with a connection of its own. */
import { performance } from 'node:perf_hooks';
import { Load } from '../load.mjs';
import { megabytes, withServer } from './rates.mjs';

const eventCountMax = 300;

async function throughput({ server, load, writer }, watchers, { deliveryCount }) {
  const eventCount = Math.max(1, Math.min(eventCountMax, Math.round(deliveryCount / watchers)));
  const before = server.cpuUs();
  const startedMs = performance.now();
  const settings = { create: 'watched', objectCount: eventCount, connectionCount: 16 };
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
      await server.createNamespace('watched');
      for (const watchers of settings.sizes) {
        await load.run('watch', { namespace: 'watched', watcherCount: watchers });
        await server.loopDelay();
        const memoryMb = megabytes(server.residentBytes());
        const figures = await throughput({ ...bench, writer }, watchers, settings);
        const { p99Ms: loopP99Ms } = await server.loopDelay();
        const single = { create: 'watched', eventCount: settings.singleEvents };
        const { p50Ms, p99Ms } = await load.run('deliveries', single);
        add({ watchers, ...figures, p50Ms, p99Ms, loopP99Ms, memoryMb });
      }
    } finally {
      await writer.stop();
    }
  });
}

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { Transport } from './transport.js';

const clientCount = 90;
const minuteMs = 60_000;

describe('the clients of three servers', () => {
  let servers: TestApiServer[];
  let urls: string[];
  let clock: TestClock;
  let clients: Transport[];

  beforeEach(async () => {
    servers = [new TestApiServer(), new TestApiServer(), new TestApiServer()];
    urls = await Promise.all(servers.map((server) => server.start()));
    clock = new TestClock();
    // Distributed evenly, as many random clients are.
    clients = Array.from({ length: clientCount }, (_, index) => {
      let turn = index;
      const random = () => (turn++ * 0.618) % 1;
      return new Transport({ servers: urls, clock, random });
    });
  });

  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(servers.map((server) => server.stop()));
  });

  const counts = () =>
    urls.map((url) => clients.filter(({ current }) => current.url.origin === url).length);

  /** Moves all clients of the first server to another one. */
  const lose = () => {
    for (const client of clients) {
      const { current } = client;
      if (current.url.origin === urls[0]) client.moveOn(current, 1_000);
    }
  };

  it('spread over all servers, and over the remaining ones after a failure', () => {
    for (const count of counts()) expect(count).toBeGreaterThan(clientCount / 4);
    lose();
    const [lost, ...left] = counts();
    expect(lost).toBe(0);
    for (const count of left) expect(count).toBeGreaterThan(clientCount / 4);
  });

  it('return to a recovered server one after the other, not together', async () => {
    const [before = 0] = counts();
    lose();
    let [backCount = 0] = counts();
    let returnCountMax = 0;
    for (let passedMs = 1_000; passedMs <= 5 * minuteMs; passedMs += 1_000) {
      await clock.advance(1_000);
      // The responses arrive over real connections.
      await new Promise((resolve) => setTimeout(resolve, 3));
      const [nowCount = 0] = counts();
      if (passedMs < minuteMs) expect(nowCount).toBe(0);
      returnCountMax = Math.max(returnCountMax, nowCount - backCount);
      backCount = nowCount;
    }
    expect(backCount).toBe(before);
    expect(before).toBeGreaterThan(20);
    expect(returnCountMax).toBeLessThan(before / 4);
  });

  it('do not return to a server that is not ready', async () => {
    servers[0]!.isReady = false;
    lose();
    for (let turn = 0; turn < 11; turn++) {
      await clock.advance(minuteMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(counts()[0]).toBe(0);
  });
});

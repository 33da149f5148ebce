import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestApiServer } from '../../test/test-api-server.js';
import { TestClock } from '../../test/test-clock.js';
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
    // Evenly, as many clients are by chance.
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

  /** The clients that use the first server leave it. */
  const lose = () => {
    for (const client of clients) {
      const { current } = client;
      if (current.url.origin === urls[0]) client.moveOn(current, 1_000);
    }
  };

  it('spread over all of them, and over those that are left', () => {
    for (const count of counts()) expect(count).toBeGreaterThan(clientCount / 4);
    lose();
    const [lost, ...left] = counts();
    expect(lost).toBe(0);
    for (const count of left) expect(count).toBeGreaterThan(clientCount / 4);
  });

  it('come back to a server that is back, one by one and not at once', async () => {
    const [before = 0] = counts();
    lose();
    let [backCount = 0] = counts();
    let mostAtOnce = 0;
    for (let passedMs = 1_000; passedMs <= 5 * minuteMs; passedMs += 1_000) {
      await clock.advance(1_000);
      // The answers come over real connections.
      await new Promise((resolve) => setTimeout(resolve, 3));
      const [nowCount = 0] = counts();
      if (passedMs < minuteMs) expect(nowCount).toBe(0);
      mostAtOnce = Math.max(mostAtOnce, nowCount - backCount);
      backCount = nowCount;
    }
    expect(backCount).toBe(before);
    expect(before).toBeGreaterThan(20);
    expect(mostAtOnce).toBeLessThan(before / 4);
  });

  it('do not go back to one that is not ready', async () => {
    servers[0]!.isReady = false;
    lose();
    for (let turn = 0; turn < 11; turn++) {
      await clock.advance(minuteMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(counts()[0]).toBe(0);
  });
});

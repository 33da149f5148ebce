import { beforeEach, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { limits } from '../limits.js';
import { type Readiness, ServerWatch } from './server-watch.js';
import { SharedReadiness } from './shared-readiness.js';

let clock: TestClock;
let readiness: Readiness;
let probes: string[];
let events: string[];

beforeEach(() => {
  clock = new TestClock();
  readiness = 'ready';
  probes = [];
  events = [];
});

/** A client with a stream at the server, which is quiet from now on. */
function client(name: string, origin = 'https://a:1'): ServerWatch {
  const watch = new ServerWatch({
    clock,
    random: () => probes.length / 10,
    shared: SharedReadiness.acquire(clock, origin),
    probe: async () => {
      probes.push(name);
      return readiness;
    },
    onHung: () => events.push(`${name} hung`),
    onUnready: async () => {
      events.push(`${name} unready`);
    },
  });
  watch.opened();
  return watch;
}

it('probes a quiet server, once for all clients of the process', async () => {
  for (const name of ['a', 'b', 'c']) {
    client(name);
    await clock.advance(1_000);
  }
  await clock.advance(20 * limits.quietMsMax);
  expect(probes.length).toBeGreaterThanOrEqual(20);
  expect(probes.length).toBeLessThanOrEqual(28);
  expect(events).toEqual([]);
});

it('is no evidence for another server', async () => {
  client('a');
  client('b', 'https://b:1');
  await clock.advance(limits.quietMsMax);
  expect(probes).toEqual(['a', 'b']);
});

it('lets each client find out that the server hangs, or is not ready', async () => {
  for (const name of ['a', 'b']) {
    client(name);
    await clock.advance(limits.quietMsMax / 3);
  }
  await clock.advance(3 * limits.quietMsMax);
  readiness = 'unready';
  await clock.advance(2 * limits.quietMsMax);
  expect(new Set(events)).toEqual(new Set(['a unready', 'b unready']));
  readiness = 'ready';
  await clock.advance(2 * limits.quietMsMax);
  events = [];
  readiness = 'none';
  await clock.advance(limits.quietMsMax);
  expect(new Set(events)).toEqual(new Set(['a hung', 'b hung']));
});

it('is forgotten with the last client', () => {
  const first = SharedReadiness.acquire(clock, 'https://c:1');
  const second = SharedReadiness.acquire(clock, 'https://c:1');
  first.reported();
  expect(second.lastMs).toBe(clock.monotonicMs());
  first.release();
  second.release();
  expect(SharedReadiness.acquire(clock, 'https://c:1').lastMs).toBe(Number.NEGATIVE_INFINITY);
});

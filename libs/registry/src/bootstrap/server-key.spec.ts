import { createLogger } from '@orch/component';
import {
  type Entry,
  type Operation,
  StoreError,
  toRevision,
  type WatchEvent,
  type WatchOptions,
} from '@orch/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { serverKeyLifeMs, serverKeyRenewMs, serverKeyRetryMs } from '../limits.js';
import { ServerKey, serverKeyPrefix } from './server-key.js';

/** Stores keys without values, and deletes expired keys at `expire`. */
class KeyStore {
  readonly writes: { readonly key: string; readonly atMs: number }[] = [];
  private readonly expiries = new Map<string, number>();
  private readonly watches = new Set<WatchOptions>();
  isAvailable = true;

  constructor(private readonly clock: TestClock) {}

  get keys(): string[] {
    return [...this.expiries.keys()].sort();
  }

  revision = () => toRevision(this.writes.length);

  async commit(operations: readonly Operation[]) {
    if (!this.isAvailable) throw new StoreError('Unavailable', 'test');
    const entries = operations.map((operation) => {
      const { kind, key } = operation;
      if (kind === 'delete') this.expiries.delete(key);
      if (kind !== 'put') return undefined;
      const previous = this.expiries.has(key) ? ({ key } as Entry) : undefined;
      this.writes.push({ key, atMs: this.clock.monotonicMs() });
      this.expiries.set(key, this.clock.monotonicMs() + operation.timeToLiveMs!);
      this.notify({ kind: 'put', key, previous });
      return undefined;
    });
    return { succeeded: true as const, revision: this.revision(), entries };
  }

  watch(options: WatchOptions) {
    this.watches.add(options);
    return { revision: this.revision(), close: () => void this.watches.delete(options) };
  }

  expire(): void {
    for (const [key, endMs] of this.expiries) {
      if (endMs > this.clock.monotonicMs()) continue;
      this.expiries.delete(key);
      this.notify({ kind: 'delete', key, previous: { key } as Entry });
    }
  }

  endWatches(): void {
    for (const { onEnd } of this.watches) onEnd(new StoreError('Unavailable', 'test'));
  }

  private notify(event: Pick<WatchEvent, 'kind' | 'key' | 'previous'>): void {
    for (const { onEvents } of this.watches) onEvents([event as WatchEvent], this.revision());
  }
}

let clock: TestClock;
let store: KeyStore;
let started: ServerKey[];
const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const keyOf = (port: number) => `${serverKeyPrefix}10.0.0.1:${port}`;

beforeEach(() => {
  clock = new TestClock();
  store = new KeyStore(clock);
  started = [];
});
afterEach(async () => {
  await Promise.all(started.map((key) => key.stop()));
});

async function server(port: number): Promise<ServerKey> {
  const key = new ServerKey({ store, clock, logger }, { ip: '10.0.0.1', port });
  started.push(key);
  await key.start();
  return key;
}

/** The number of moments at which keys were written since a time, and of writes. */
function writesSince(sinceMs: number) {
  const times = store.writes.filter(({ atMs }) => atMs > sinceMs).map(({ atMs }) => atMs);
  return { moments: new Set(times).size, count: times.length };
}

it('lets the servers renew at the same time, whenever they started', async () => {
  for (const port of [1, 2, 3]) {
    await server(port);
    await clock.advance(serverKeyRenewMs / 4);
  }
  await clock.advance(2 * serverKeyRenewMs);
  const sinceMs = clock.monotonicMs();
  await clock.advance(10 * serverKeyRenewMs);
  expect(writesSince(sinceMs)).toEqual({ moments: 10, count: 30 });
});

it('lets a server that has just renewed be, when another one does', async () => {
  await server(1);
  await clock.advance(0.75 * serverKeyRenewMs);
  await server(2);
  const sinceMs = clock.monotonicMs();
  await clock.advance(0.25 * serverKeyRenewMs);
  expect(writesSince(sinceMs)).toEqual({ moments: 1, count: 1 });
});

it('keeps the keys of running servers only', async () => {
  const keys = [await server(1), await server(2)];
  await keys[0]!.stop();
  for (let atMs = 0; atMs < 3 * serverKeyLifeMs; atMs += 1_000) {
    await clock.advance(1_000);
    store.expire();
  }
  expect(store.keys).toEqual([keyOf(2)]);
  await keys[1]!.stop();
  await keys[1]!.delete(1_000);
  expect(store.keys).toEqual([]);
});

it('retries several times before the key expires', async () => {
  await server(1);
  store.isAvailable = false;
  await clock.advance(serverKeyRenewMs + 3 * serverKeyRetryMs);
  store.isAvailable = true;
  await clock.advance(serverKeyRetryMs);
  store.expire();
  expect(store.keys).toEqual([keyOf(1)]);
});

it('is written again when it expired during a stall, also after its watch ended', async () => {
  await server(1);
  store.endWatches();
  await clock.advance(serverKeyRenewMs);
  store.isAvailable = false;
  await clock.advance(serverKeyLifeMs);
  store.isAvailable = true;
  const { length } = store.writes;
  store.expire();
  expect(store.keys).toEqual([]);
  await clock.advance(0);
  expect(store.keys).toEqual([keyOf(1)]);
  expect(store.writes).toHaveLength(length + 1);
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  commit,
  objectAt,
  put,
  quorumRead,
  read,
  until,
  WatchRecorder,
} from '../testing/harness.js';
import { StoreError } from '../versioned-store.js';
import type { EtcdStore } from './etcd-store.js';
import { EtcdServers } from './testing/etcd-server.js';
import { openStore } from './testing/open.js';

const timeoutMs = 60_000;
const commitMs = 2_000;
const writerCount = 6;

interface Acknowledged {
  readonly text: string;
  readonly revision: number;
}

function textOf(bytes: Buffer): string {
  return JSON.parse(bytes.toString()).text;
}

/**
 * Commits again while the outcome is unknown, which a member that hangs can cause. Returns the
 * revision and the number of attempts.
 */
async function commitRepeatedly(store: EtcdStore): Promise<{ revision: number; attempts: number }> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      const { revision } = await commit(store, put('core/pods/ns/a', 'next'));
      return { revision, attempts };
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'OutcomeUnknown') throw error;
    }
  }
}

/** Writes until stopped and records the acknowledged writes. */
class Writers {
  readonly acknowledged = new Map<string, Acknowledged>();
  readonly failures = new Map<string, number>();
  count = 0;
  private stopped = false;
  private readonly running: Promise<unknown>;

  constructor(private readonly store: EtcdStore) {
    this.running = Promise.all(Array.from({ length: writerCount }, (_, at) => this.write(at)));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async write(writer: number): Promise<void> {
    for (let at = 0; !this.stopped; at += 1) {
      const key = `core/pods/ns${writer}/p${at % 4}`;
      const text = `${writer}-${at}`;
      try {
        const result = await this.store.commit([put(key, text)], commitMs);
        if (!result.succeeded) throw new Error('a commit without a condition failed');
        this.acknowledged.set(key, { text, revision: result.revision });
        this.count += 1;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.failures.set(error.code, (this.failures.get(error.code) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
}

describe('store on three members of etcd over TLS', () => {
  let servers: EtcdServers;
  let store: EtcdStore;
  let fatal: Error[];

  beforeEach(async () => {
    servers = await EtcdServers.start(3, true);
    ({ store, fatal } = await openStore(servers));
  }, timeoutMs);

  afterEach(async () => {
    await store.stop();
    await servers.destroy();
  });

  /** Expects every acknowledged write, or a later one whose response may be lost. */
  async function expectNothingLost({ acknowledged }: Writers): Promise<void> {
    const { entries } = await store.list('core/', quorumRead);
    const byKey = new Map(entries.map((entry) => [entry.key, entry]));
    for (const [key, { text, revision }] of acknowledged) {
      const entry = byKey.get(key);
      expect(entry?.revision).toBeGreaterThanOrEqual(revision);
      if (entry?.revision !== revision) continue;
      expect(entry?.bytes.toString()).toBe(objectAt(text, revision));
    }
  }

  it(
    'continues without a gap in any watch when members are killed',
    async () => {
      const recorder = new WatchRecorder(store, '', 0);
      const writers = new Writers(store);
      for (const [at, member] of servers.members.entries()) {
        const before = writers.count;
        await until(() => writers.count > before + 50, `commits go on before kill ${at}`);
        await member.kill();
        const killed = writers.count;
        await until(() => writers.count > killed + 50, `commits go on after kill ${at}`);
        member.start();
        await member.serving();
      }
      await writers.stop();
      await expectNothingLost(writers);
      await recorder.reached(store.revision());
      expect(recorder.ended).toBeUndefined();
      // No other program writes to this etcd, so every revision is a commit and must arrive once.
      expect(recorder.events.map(({ revision }) => revision)).toEqual(
        Array.from({ length: store.revision() }, (_, at) => at + 1),
      );
      // Every text is written once, so one that shows twice was committed twice.
      const texts = recorder.events.map(({ key, entry }) => `${key} ${textOf(entry.bytes)}`);
      expect(new Set(texts).size).toBe(texts.length);
      const known = new Set(['OutcomeUnknown', 'Unavailable']);
      expect([...writers.failures.keys()].filter((code) => !known.has(code))).toEqual([]);
      expect(fatal).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'leaves a member that hangs',
    async () => {
      const recorder = new WatchRecorder(store, '', 0);
      await commit(store, put('core/pods/ns/a', 'one'));
      let commitsMax = 1;
      // Stream and calls are on the first; once it hangs, on the second.
      for (const member of servers.members.slice(0, 2)) {
        member.signal('SIGSTOP');
        const { entry } = await store.get('core/pods/ns/a', read({ kind: 'quorum' }, 10_000));
        expect(entry?.revision).toBe(store.revision());
        const { revision, attempts } = await commitRepeatedly(store);
        commitsMax += attempts;
        await recorder.reached(revision);
        member.signal('SIGCONT');
      }
      expect(store.revision()).toBeGreaterThanOrEqual(3);
      expect(store.revision()).toBeLessThanOrEqual(commitsMax);
      const revisions = Array.from({ length: store.revision() }, (_, at) => at + 1);
      await recorder.reached(store.revision());
      expect(recorder.events.map(({ revision }) => revision)).toEqual(revisions);
    },
    timeoutMs,
  );

  it(
    'reports the loss of a quorum and recovers',
    async () => {
      await commit(store, put('core/pods/ns/a', 'one'));
      const [first, second] = servers.members;
      await Promise.all([first?.kill(), second?.kill()]);
      await until(() => !store.status().ready, 'the store is not ready');
      expect(store.status().reason).toContain('etcd');
      await expect(
        store.get('core/pods/ns/a', read({ kind: 'quorum' }, 300)),
      ).rejects.toMatchObject({ code: 'Unavailable' });
      await expect(store.commit([put('core/pods/ns/a', 'two')], 300)).rejects.toMatchObject({
        code: expect.stringMatching(/Unavailable|OutcomeUnknown/),
      });
      const old = await store.get('core/pods/ns/a', read({ kind: 'any' }));
      expect(old.entry?.bytes.toString()).toBe(objectAt('one', 1));
      first?.start();
      second?.start();
      await until(() => store.status().ready, 'the store is ready again');
      await commit(store, put('core/pods/ns/b', 'three'));
    },
    timeoutMs,
  );
});

import { createLogger } from '@orch/component';
import { toRevision, type WatchOptions } from '@orch/store';
import { beforeEach, expect, it } from 'vitest';
import { TestClock } from '../../../../libs/component/src/testing/test-clock.js';
import { ReplicaFacts } from './replica-facts.js';

let clock: TestClock;
let reports: Readonly<Record<string, string | number>>[];
let isReady: boolean;
let revision: number;
let watched: WatchOptions | undefined;
let facts: ReplicaFacts;

beforeEach(() => {
  clock = new TestClock();
  reports = [];
  isReady = true;
  revision = 1;
  facts = new ReplicaFacts({
    store: {
      status: () => ({
        ready: isReady,
        revision: toRevision(revision),
        compactedRevision: toRevision(0),
        keyCount: 0,
        valueBytes: 0,
      }),
      stateHash: () => ({ appliedIndex: 7, revision: toRevision(revision), hash: `s${revision}` }),
      contentHash: async (at) => ({ revision: at, hash: `c${at}`, keyCount: 0 }),
      revision: () => toRevision(revision),
      watch(options) {
        watched = options;
        return { revision: toRevision(revision), close: () => undefined };
      },
    },
    log: { setFacts: (reported) => reports.push(reported) },
    clock,
    logger: createLogger({ component: 'test', format: 'text', level: 'fatal' }),
  });
  facts.start();
});

it('reports at start, and once soon after changes, but nothing at rest', async () => {
  expect(reports).toMatchObject([{ pid: process.pid, revision: 1, stateHash: 's1' }]);
  await clock.advance(60_000);
  expect(reports).toHaveLength(1);
  for (revision = 2; revision < 9; revision++) facts.changed();
  await clock.advance(1_000);
  expect(reports.slice(1)).toMatchObject([{ revision: 9, stateHash: 's9' }]);
});

it('reports the hash of the state as soon as there is one', async () => {
  isReady = false;
  facts.changed();
  await clock.advance(1_000);
  expect(reports.at(-1)).not.toHaveProperty('stateHash');
  isReady = true;
  await clock.advance(1_000);
  expect(reports.at(-1)).toMatchObject({ stateHash: 's1' });
});

it('reports the hash of the content when it is computed', async () => {
  watched!.onEvents([], toRevision(5));
  await clock.advance(0);
  expect(reports.at(-1)).toMatchObject({ checkedRevision: 5, contentHash: 'c5' });
});

it('reports nothing once it has stopped', async () => {
  facts.changed();
  facts.stop();
  facts.changed();
  await clock.advance(1_000);
  expect(reports).toHaveLength(1);
});

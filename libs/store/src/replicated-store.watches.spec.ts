/** Watches of a replicated store: compaction, back-pressure, failing callbacks. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commit, put, until, WatchRecorder } from './testing/harness.js';
import { ReplicatedStoreSetup } from './testing/replicated-store-setup.js';
import type { Revision } from './versioned-store.js';

const keyA = 'core/pods/ns/a';

describe('watches of ReplicatedStore', () => {
  let setup: ReplicatedStoreSetup;

  beforeEach(async () => {
    setup = await ReplicatedStoreSetup.create();
  });

  afterEach(() => setup.destroy());

  it('ends a watch that a compaction overtakes', async () => {
    await setup.open({ ringEventsMax: 1 });
    for (let at = 0; at < 20; at += 1) await commit(setup.store, put(keyA, `${at}`));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const recorder = new WatchRecorder(setup.store, '', 0);
    await setup.store.compact(setup.store.revision());
    for (let turn = 0; turn < 20 && !recorder.ended; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const revisions = recorder.events.map(({ revision }) => revision);
    if (recorder.ended) expect(recorder.ended).toMatchObject({ code: 'Compacted', revision: 20 });
    else expect(revisions).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it.each([
    ['memory', {}],
    ['disk', { ringEventsMax: 1, ringBytesMax: 1 }],
  ])('gives the past from %s only as it is taken, and others their turn', async (_, options) => {
    await setup.open(options);
    for (let i = 0; i < 8; i += 1) await commit(setup.store, put(keyA, 'x'.repeat(512 * 1024)));
    const waiting: (() => void)[] = [];
    let room = 0;
    const slow: Revision[] = [];
    // More of them than are served at a time.
    const handles = Array.from({ length: 12 }, (_, index) =>
      setup.store.watch({
        prefix: keyA,
        afterRevision: 0 as Revision,
        onEvents: (events) => {
          if (index === 0) slow.push(...events.map(({ revision }) => revision));
        },
        whenReady: () =>
          slow.length < room ? undefined : new Promise((resolve) => waiting.push(resolve)),
        onEnd: (error) => {
          throw error;
        },
      }),
    );
    const quick = new WatchRecorder(setup.store, keyA, 0);
    await quick.reached(8);
    expect(slow).toEqual([]);
    for (room = 1; slow.length < 8; room += 1) {
      for (const resolve of waiting.splice(0)) resolve();
      await until(() => slow.length >= room, 'what there is room for');
      expect(slow.length).toBeLessThan(room + 4);
    }
    expect(slow).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const handle of handles) handle.close();
  });

  it('ends only the watch whose callback throws', async () => {
    await setup.open();
    const ended: string[] = [];
    const error = console.error;
    console.error = () => undefined;
    setup.store.watch({
      prefix: '',
      afterRevision: setup.store.revision(),
      onEvents: () => {
        throw new Error('a bug of the caller');
      },
      onEnd: ({ code }) => ended.push(code),
    });
    const healthy = new WatchRecorder(setup.store, '', 0);
    await commit(setup.store, put(keyA, 'one'));
    console.error = error;
    expect(ended).toEqual(['Unavailable']);
    expect(healthy.events).toHaveLength(1);
  });
});

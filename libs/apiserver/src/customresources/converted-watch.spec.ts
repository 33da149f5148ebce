import { StatusError } from '@orch/apimachinery';
import type {
  Entry,
  Revision,
  StoreError,
  VersionedStore,
  WatchEvent,
  WatchOptions,
} from '@orch/store';
import { describe, expect, it, vi } from 'vitest';
import { ConvertedWatch } from './converted-watch.js';
import type { Shown } from './version-reader.js';

function entry(key: string, revision: number): Entry {
  return {
    key,
    bytes: Buffer.from(key),
    createRevision: 1 as Revision,
    revision: revision as Revision,
    derived: undefined,
  };
}

function put(revision: number): WatchEvent {
  return {
    revision: revision as Revision,
    kind: 'put',
    key: `a/${revision}`,
    previous: undefined,
    entry: entry(`a/${revision}`, revision),
    derived: undefined,
  };
}

/** A watch whose events come and whose conversions end by hand. */
function stage(show: (entries: readonly Entry[]) => Shown) {
  const inner = { revision: 0 as Revision, close: vi.fn() };
  let options: WatchOptions | undefined;
  const store = {
    watch(given: WatchOptions) {
      options = given;
      return inner;
    },
  } as unknown as VersionedStore;
  const keys: string[] = [];
  const ended: StoreError[] = [];
  const watch = new ConvertedWatch(
    store,
    {
      prefix: 'a/',
      afterRevision: 0 as Revision,
      onEvents: (events) => keys.push(...events.map((event) => event.entry.key)),
      onEnd: (error) => ended.push(error),
    },
    show,
  );
  const come = (...revisions: number[]) => {
    inner.revision = revisions.at(-1) as Revision;
    options?.onEvents(revisions.map(put), inner.revision);
  };
  return { watch, inner, keys, ended, come };
}

const shown = (entries: readonly Entry[]) =>
  entries.map((one) => ({ ...one, key: `${one.key} shown` }));

describe('a watch in another version', () => {
  it('hands on at once what is converted at once, and the same event where nothing is', () => {
    const { watch, keys, come } = stage((entries) => entries);
    come(1, 2);
    expect(keys).toEqual(['a/1', 'a/2']);
    expect(watch.revision).toBe(2);
  });

  it('keeps the order while a conversion takes its time, and tells no later revision', async () => {
    const waiting: (() => void)[] = [];
    const { watch, keys, come } = stage((entries) =>
      entries[0]!.revision === 1
        ? new Promise((resolve) => waiting.push(() => resolve(shown(entries))))
        : shown(entries),
    );
    come(1);
    come(2, 3);
    expect([keys, watch.revision]).toEqual([[], 0]);
    waiting[0]!();
    await vi.waitFor(() => expect(keys).toEqual(['a/1 shown', 'a/2 shown', 'a/3 shown']));
    expect(watch.revision).toBe(3);
    come(4);
    expect(keys.at(-1)).toBe('a/4 shown');
  });

  it('ends with the conversion that fails, and hands on nothing after it', async () => {
    const refused = new StatusError({ code: 500, message: 'not today' });
    const { inner, keys, ended, come } = stage(() => Promise.reject(refused));
    come(1);
    come(2);
    await vi.waitFor(() => expect(ended).toHaveLength(1));
    expect(ended[0]?.message).toContain('not today');
    expect([keys, inner.close.mock.calls.length]).toEqual([[], 1]);
  });
});

import { StatusError } from '@orch/apimachinery';
import type { Entry, Revision, StoreError, WatchEvent, WatchOptions } from '@orch/store';
import { describe, expect, it, vi } from 'vitest';
import { DecodedWatch } from './decoded-watch.js';
import type { DecodedEntries } from './entry-codec.js';

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
function stage(show: (entries: readonly Entry[]) => DecodedEntries) {
  const inner = { revision: 0 as Revision, close: vi.fn() };
  let options: WatchOptions | undefined;
  const store = {
    watch(given: WatchOptions) {
      options = given;
      return inner;
    },
  };
  const keys: string[] = [];
  const ended: StoreError[] = [];
  const watch = new DecodedWatch(
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
  it('forwards events immediately after a synchronous conversion, and unconverted events unchanged', () => {
    const { watch, keys, come } = stage((entries) => entries);
    come(1, 2);
    expect(keys).toEqual(['a/1', 'a/2']);
    expect(watch.revision).toBe(2);
  });

  it('preserves the order during an asynchronous conversion, and reports no later revision', async () => {
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

  it('delivers the same decoded events as other watches, unless an entry was decoded again', () => {
    const decoded = new Map<Entry, Entry>();
    const decode = (entries: readonly Entry[]) =>
      entries.map((one) => {
        const existing = decoded.get(one) ?? { ...one, key: `${one.key} shown` };
        decoded.set(one, existing);
        return existing;
      });
    const shared = new Map<WatchEvent, WatchEvent>();
    const event = put(1);
    const deliver = () => {
      const received: WatchEvent[] = [];
      const store = {
        watch({ onEvents }: WatchOptions) {
          onEvents([event], event.revision);
          return { revision: event.revision, close: () => undefined };
        },
      };
      new DecodedWatch(
        store,
        {
          prefix: 'a/',
          afterRevision: 0 as Revision,
          onEvents: (events) => received.push(...events),
          onEnd: () => undefined,
        },
        decode,
        shared,
      );
      return received[0];
    };
    const first = deliver();
    expect(first?.entry.key).toBe('a/1 shown');
    expect(deliver()).toBe(first);
    decoded.clear();
    expect(deliver()).not.toBe(first);
  });
});

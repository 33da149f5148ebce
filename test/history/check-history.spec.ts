/** The checks report every planted fault and nothing in a correct history. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from './check-history.js';
import { checkWatch } from './check-watch.js';
import type { LoggedEvent, ReadRecord, WatchRecord, WriteRecord } from './history.js';
import { ReplayedState } from './replayed-state.js';

const log: LoggedEvent[] = [
  { revision: 1, kind: 'put', key: 'a', value: 'a1' },
  { revision: 2, kind: 'put', key: 'b', value: 'b1' },
  { revision: 2, kind: 'put', key: 'c', value: 'c1' },
  { revision: 3, kind: 'delete', key: 'a', value: '' },
  { revision: 4, kind: 'put', key: 'b', value: 'b2' },
];

function write(
  startedAt: number,
  endedAt: number | undefined,
  operations: WriteRecord['operations'],
  outcome: WriteRecord['outcome'],
): WriteRecord {
  return {
    kind: 'write',
    client: 'w',
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    operations,
    outcome,
  };
}

const writes: WriteRecord[] = [
  write(1, 2, [{ kind: 'put', key: 'a', value: 'a1', expect: 'absent' }], {
    kind: 'applied',
    revision: 1,
  }),
  write(
    3,
    4,
    [
      { kind: 'put', key: 'b', value: 'b1' },
      { kind: 'put', key: 'c', value: 'c1' },
    ],
    { kind: 'applied', revision: 2 },
  ),
  write(5, 6, [{ kind: 'delete', key: 'a' }], { kind: 'applied', revision: 3 }),
  write(7, undefined, [{ kind: 'put', key: 'b', value: 'b2', expect: 2 }], { kind: 'unknown' }),
  write(8, 9, [{ kind: 'put', key: 'c', value: 'c2', expect: 'absent' }], {
    kind: 'conflict',
    operation: 0,
    revision: 3,
    current: { key: 'c', value: 'c1', revision: 2 },
  }),
];

function read(overrides: Partial<ReadRecord>): ReadRecord {
  return {
    kind: 'read',
    client: 'r',
    replica: '1',
    startedAt: 10,
    endedAt: 11,
    consistency: { kind: 'quorum' },
    key: 'b',
    isList: false,
    revision: 4,
    found: [{ key: 'b', value: 'b2', revision: 4 }],
    ...overrides,
  };
}

function rules(
  changes: { log?: LoggedEvent[]; writes?: WriteRecord[]; reads?: ReadRecord[] } = {},
): string[] {
  const violations = checkHistory({
    state: new ReplayedState(changes.log ?? log),
    writes: changes.writes ?? writes,
    reads: changes.reads ?? [read({})],
  });
  return [...new Set(violations.map(({ rule }) => rule))];
}

describe('checkHistory', () => {
  it('accepts a correct history', () => {
    expect(rules()).toEqual([]);
    const list = read({
      key: '',
      isList: true,
      consistency: { kind: 'exact', revision: 2 },
      revision: 2,
      found: [
        { key: 'a', value: 'a1', revision: 1 },
        { key: 'b', value: 'b1', revision: 2 },
        { key: 'c', value: 'c1', revision: 2 },
      ],
    });
    expect(rules({ reads: [list] })).toEqual([]);
  });

  it('finds lost, duplicate, refused and unrequested writes', () => {
    expect(rules({ log: log.filter(({ value }) => value !== 'c1') })).toContain(
      'acknowledged write lost',
    );
    const doubled = [...log, { revision: 5, kind: 'put' as const, key: 'a', value: 'a1' }];
    expect(rules({ log: doubled })).toContain('applied twice');
    const refused = writes.map((one, at) =>
      at === 3 ? { ...one, outcome: { kind: 'refused' as const, reason: '' } } : one,
    );
    expect(rules({ writes: refused })).toContain('refused write applied');
    expect(rules({ writes: writes.filter((_, at) => at !== 3) })).toContain('write from nowhere');
    expect(rules({ writes: writes.filter((_, at) => at !== 2) })).toContain(
      'deletion from nowhere',
    );
  });

  it('finds broken expectations and wrong conflicts', () => {
    const blind = writes.map((one, at) =>
      at === 3
        ? { ...one, operations: [{ kind: 'put' as const, key: 'b', value: 'b2', expect: 1 }] }
        : one,
    );
    expect(rules({ writes: blind })).toContain('expectation broken');
    const wrong = writes.map((one, at) =>
      at === 4
        ? {
            ...one,
            outcome: {
              kind: 'conflict' as const,
              operation: 0,
              revision: 3,
              current: { key: 'c', value: 'c0', revision: 2 },
            },
          }
        : one,
    );
    expect(rules({ writes: wrong })).toContain('conflict with an absent version');
  });

  it('finds stale, torn and impossible reads', () => {
    const stale = read({ revision: 1, found: [], key: 'b' });
    expect(rules({ reads: [stale] })).toEqual(['stale read']);
    expect(rules({ reads: [{ ...stale, consistency: { kind: 'any' } }] })).toEqual([]);
    expect(rules({ reads: [read({ found: [] })] })).toContain(
      'read differs from the replayed state',
    );
    expect(rules({ reads: [read({ revision: 9 })] })).toContain('read from the future');
    const old = read({ consistency: { kind: 'notOlderThan', revision: 4 }, revision: 3 });
    expect(rules({ reads: [old] })).toContain('read older than requested');
  });

  it('places a get by its version', () => {
    const get = (found: ReadRecord['found'], startedAt: number, key = 'b') =>
      rules({ reads: [read({ key, found, revision: undefined, startedAt, endedAt: 100 })] });
    const first = { key: 'b', value: 'b1', revision: 2 };
    expect(get([first], 10)).toEqual([]);
    expect(get([], 10, 'a')).toEqual([]);
    const seen = read({ revision: 4, endedAt: 20, startedAt: 12 });
    const late = { key: 'b', isList: false, revision: undefined, startedAt: 30, endedAt: 40 };
    expect(rules({ reads: [seen, read({ ...late, found: [first] })] })).toEqual(['stale read']);
    expect(rules({ reads: [seen, read({ ...late, found: [] })] })).toEqual(['stale read']);
    expect(rules({ reads: [seen, read({ ...late, key: 'a', found: [] })] })).toEqual([]);
  });

  it('allows revisions of other programs in between if configured', () => {
    const sparse = new ReplayedState([{ revision: 7, kind: 'put', key: 'a', value: 'a1' }]);
    const one = write(1, 2, [{ kind: 'put', key: 'a', value: 'a1' }], {
      kind: 'applied',
      revision: 7,
    });
    const history = { state: sparse, writes: [one], reads: [] };
    expect(checkHistory(history).map(({ rule }) => rule)).toEqual(['revisions']);
    expect(checkHistory({ ...history, sharesRevisions: true })).toEqual([]);
  });

  it('finds writes in the wrong order and gaps in revisions', () => {
    const late = writes.map((one, at) => (at === 0 ? { ...one, startedAt: 20, endedAt: 21 } : one));
    expect(rules({ writes: late })).toContain('write before an earlier one');
    expect(
      rules({ log: log.map((event) => ({ ...event, revision: event.revision * 2 })) }),
    ).toContain('revisions');
  });
});

describe('checkWatch', () => {
  const watch = (changes: Partial<WatchRecord>): string[] =>
    checkWatch(
      {
        client: 'w',
        prefix: '',
        afterRevision: 1,
        events: log.filter(({ revision }) => revision > 1),
        progress: 4,
        ended: 'open',
        ...changes,
      },
      new ReplayedState(log),
    ).map(({ rule }) => rule);

  it('accepts a complete stream and one that is behind', () => {
    expect(watch({})).toEqual([]);
    expect(watch({ events: log.slice(1, 3), progress: 2 })).toEqual([]);
  });

  it('finds gaps, duplicates, disorder, torn commits and false bookmarks', () => {
    const events = log.slice(1);
    expect(watch({ events: events.filter(({ revision }) => revision !== 3) })).toHaveLength(1);
    expect(watch({ events: [...events, events.at(-1)!] })).toHaveLength(1);
    expect(watch({ events: [...events].reverse() })).toContain('watch: out of order');
    expect(watch({ events: events.slice(0, 1), progress: 2 })).toHaveLength(1);
    expect(watch({ events: [], progress: 3 })).toHaveLength(1);
    const early = { kind: 'bookmark' as const, revision: 3 };
    expect(watch({ events: [events[0]!, events[1]!, early, ...events.slice(2)] })).toContain(
      'watch: event behind a bookmark',
    );
  });
});

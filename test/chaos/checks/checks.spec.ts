/**
 * The checks of a run find servers that differ, lost and doubled deletions, and events called
 * wrongly.
 */
import { describe, expect, it } from 'vitest';
import { checkWatch } from '../../history/check-watch.js';
import type { LoggedEvent } from '../../history/history.js';
import { ReplayedState } from '../../history/replayed-state.js';
import type { NotedWrite } from '../load/notes.js';
import { Notes } from '../load/notes.js';
import { coloredValue, type Selector } from '../load/selectors.js';
import { type EventFacts, Watcher } from '../load/watcher.js';
import { lackOf } from '../report.js';
import { quantile, worstGapMs } from '../support/quantiles.js';
import { checkEvents } from './check-events.js';
import { placeDeletions } from './deletions.js';
import { selectedLog } from './selected-log.js';
import { truthOf } from './truth.js';

const put: LoggedEvent = { kind: 'put', key: 'configmaps/chaos-1', value: 'a', revision: 3 };
const gone: LoggedEvent = { kind: 'delete', key: 'configmaps/chaos-1', value: '', revision: 5 };

/** One that has seen these events, without ever having been started. */
function witness(id: string, events: readonly LoggedEvent[], lastValue = 'a'): Watcher {
  const watcher = new Watcher(
    { id, resource: 'configmaps', next: () => undefined },
    '',
    new Notes(),
  );
  watcher.records.push({
    client: id,
    prefix: 'configmaps/',
    afterRevision: 0,
    events: [...events],
    progress: events.at(-1)?.revision ?? 0,
    ended: 'open',
  });
  for (const { key, revision, kind, value } of events) {
    const facts: EventFacts =
      kind === 'put'
        ? { uid: 'u', type: 'ADDED', value }
        : { uid: 'u', type: 'DELETED', value: lastValue };
    watcher.facts.set(`${key}@${revision}`, facts);
  }
  return watcher;
}

describe('truthOf', () => {
  it('merges the events of all witnesses in order', () => {
    const { log, violations } = truthOf([witness('a', [gone]), witness('b', [put, gone])]);
    expect(log).toEqual([put, gone]);
    expect(violations).toEqual([]);
  });

  it('reports servers that disagree on one position or revision', () => {
    const other = truthOf([witness('a', [put]), witness('b', [{ ...put, value: 'b' }])]);
    expect(other.violations.map(({ rule }) => rule)).toEqual(['servers differ']);
    const elsewhere = { ...put, key: 'configmaps/chaos-2' };
    const twoKeys = truthOf([witness('a', [put]), witness('b', [elsewhere])]);
    expect(twoKeys.violations.map(({ rule }) => rule)).toEqual(['servers differ']);
  });
});

describe('deletions', () => {
  const noted = (client: string): NotedWrite => ({
    kind: 'write',
    client,
    startedAt: 1,
    endedAt: 2,
    operations: [{ kind: 'delete', key: put.key }],
    outcome: { kind: 'applied', revision: Number.NaN },
    deletedUid: 'u',
  });

  it('get the revision of their event', () => {
    const { writes, violations } = placeDeletions(
      [noted('c')],
      truthOf([witness('a', [put, gone])]),
    );
    expect(writes[0]!.outcome).toEqual({ kind: 'applied', revision: 5 });
    expect(violations).toEqual([]);
  });

  it('are lost without an event and cannot happen twice', () => {
    const rules = (writes: NotedWrite[], events: LoggedEvent[]) =>
      placeDeletions(writes, truthOf([witness('a', events)])).violations.map(({ rule }) => rule);
    expect(rules([noted('c')], [put])).toEqual(['acknowledged deletion lost']);
    expect(rules([noted('c'), noted('d')], [put, gone])).toEqual(['deleted twice']);
  });
});

describe('events', () => {
  it('have the right type, and the last content in deletions', () => {
    const state = new ReplayedState([put, gone]);
    expect(checkEvents(witness('a', [put, gone]), state)).toEqual([]);
    expect(checkEvents(witness('a', [put, gone], 'x'), state)).toHaveLength(1);
    const twice = new ReplayedState([{ ...put, revision: 2, value: '0' }, put, gone]);
    expect(checkEvents(witness('a', [put]), twice)).toHaveLength(1);
  });
});

describe('a selector', () => {
  const red: Selector = { text: 'color=red', selects: (value) => value.endsWith('.red') };
  const [first, second, third] = (['green', 'red', 'blue'] as const).map((color, at) => ({
    ...put,
    value: coloredValue('c', at, color),
    revision: 3 + at,
  })) as [LoggedEvent, LoggedEvent, LoggedEvent];
  const left: LoggedEvent = { ...third, kind: 'delete', value: '' };

  it('adds objects when they match and removes them when they no longer match', () => {
    const log = [first, second, third, { ...gone, revision: 6 }];
    expect(selectedLog(log, red)).toEqual([second, left]);
  });

  it('detects a missing removal and a wrong last content', () => {
    const state = new ReplayedState(selectedLog([first, second, third], red));
    const rules = (watcher: Watcher) => [
      ...watcher.records.flatMap((record) => checkWatch(record, state)),
      ...checkEvents(watcher, state),
    ];
    expect(rules(witness('a', [second, left], second.value))).toEqual([]);
    expect(rules(witness('a', [second, left], third.value))).toHaveLength(1);
    const blind = witness('a', [second]);
    blind.records[0]!.progress = left.revision;
    expect(rules(blind)).toHaveLength(1);
  });
});

describe('figures', () => {
  it('lack a figure that the gate requires', () => {
    const gate = { acknowledged: 10, faults: 1, failovers: 1 };
    expect(lackOf(gate, gate)).toBeUndefined();
    expect(lackOf(gate, { ...gate, faults: 0 })).toContain('0 faults');
  });

  it('are quantiles and gaps of the measurements', () => {
    expect([quantile([3, 1, 2], 0.5), quantile([3, 1, 2], 0.99)]).toEqual([2, 3]);
    const notes = new Notes();
    for (const endedAt of [10, 20, 90, 100]) {
      const write = notes.begin('c', []);
      notes.end(write, { kind: 'applied', revision: 1 });
      write.endedAt = endedAt;
    }
    expect(worstGapMs(notes, 15, 10)).toBe(70);
    expect(worstGapMs(notes, 92, 10)).toBe(10);
  });
});

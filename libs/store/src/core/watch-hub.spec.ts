import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Entry, Revision, WatchEvent, WatchIndex, WatchOptions } from '../versioned-store.js';
import { Watch, WatchHub } from './watch-hub.js';

/** The value of an entry is its bytes; `?` is a value that cannot be read. */
const byValue: WatchIndex = {
  valueOf: ({ bytes }) => (bytes.toString() === '?' ? undefined : bytes.toString()),
};
const byName: WatchIndex = { valueOf: ({ key }) => key.split('/').at(-1)! };

const values = fc.constantFrom('', 'a', 'b', 'c', '?');
const keys = fc.constantFrom('pods/x/a', 'pods/x/b', 'pods/y/a', 'pods/xy/a', 'nodes/a');
const prefixes = fc.constantFrom('', 'pods/', 'pods/x/', 'pods/x', 'pods/x/a', 'nodes/');

interface WatchCase {
  readonly prefix: string;
  readonly selects: WatchOptions['selects'];
}

const watchCases: fc.Arbitrary<WatchCase> = fc.record({
  prefix: prefixes,
  selects: fc.option(
    fc.record({
      index: fc.constantFrom(byValue, byName),
      value: fc.constantFrom('', 'a', 'b', 'c'),
    }),
    { nil: undefined },
  ),
});

type Step =
  | { readonly kind: 'put'; readonly key: string; readonly value: string }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'leave'; readonly at: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('put'), key: keys, value: values }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete'), key: keys }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave'), at: fc.nat(20) }) },
) as fc.Arbitrary<Step>;

it('delivers to each watch exactly what a scan of all watches selects', () => {
  fc.assert(
    fc.property(fc.array(watchCases, { maxLength: 12 }), fc.array(steps), (cases, script) => {
      const { delivered, expected } = replay(cases, script);
      expect(delivered).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

it('is found wrong if the value that an object had is ignored', () => {
  const cases = [{ prefix: '', selects: { index: byValue, value: 'a' } }];
  const script: Step[] = [
    { kind: 'put', key: 'pods/x/a', value: 'a' },
    { kind: 'put', key: 'pods/x/a', value: 'b' },
  ];
  const forget = (event: WatchEvent) => ({ ...event, previous: undefined });
  const { delivered, expected } = replay(cases, script, forget);
  expect(expected).toEqual([[1, 2]]);
  expect(delivered).toEqual([[1]]);
});

it('calls only the watches whose value an object has or had', () => {
  let visitedCount = 0;
  const hub = new WatchHub();
  for (let node = 0; node < 5_000; node += 1) {
    const selects = { index: byValue, value: `node-${node}` };
    hub.join(watchOf({ prefix: 'pods/', selects }, () => (visitedCount += 1)));
  }
  const move = eventOf(1, 'put', 'pods/x/a', 'node-1', 'node-2');
  hub.collect([move]);
  hub.flush(move.revision, throwError);
  expect(visitedCount).toBe(2);
});

type LagStep =
  | { readonly kind: 'put'; readonly key: string }
  | { readonly kind: 'deliver' }
  | { readonly kind: 'close'; readonly at: number };

const lagSteps: fc.Arbitrary<LagStep[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('put'), key: keys }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'deliver' }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('close'), at: fc.nat(8) }) },
  ) as fc.Arbitrary<LagStep>,
);

it('delivers everything up to the revision of each watch, also when watches lag or leave', () => {
  const cases = fc.array(fc.record({ prefix: prefixes, mayLag: fc.boolean() }), { maxLength: 8 });
  fc.assert(
    fc.property(cases, lagSteps, fc.integer({ min: 1, max: 3 }), (watchCasesOf, script, slice) => {
      const hub = new WatchHub(slice);
      const written: { readonly key: string; readonly revision: number }[] = [];
      const delivered = watchCasesOf.map((): number[] => []);
      const watches = watchCasesOf.map(({ prefix, mayLag }, at) =>
        watchOf(
          { prefix, selects: undefined },
          (events) => delivered[at]!.push(...events.map(({ revision }) => revision)),
          mayLag,
        ),
      );
      const check = () => {
        for (const [at, watch] of watches.entries()) {
          const known = watch.hub ? watch.revision : watch.sentRevision;
          const expected = written.filter(
            ({ key, revision }) => watch.selects(key) && revision <= known,
          );
          expect(delivered[at]).toEqual(expected.map(({ revision }) => revision));
          if (!watch.closed && !watchCasesOf[at]!.mayLag) expect(known).toBe(written.length);
        }
      };
      for (const watch of watches) hub.join(watch);
      for (const step of script) {
        if (step.kind === 'close') watches[step.at]?.close();
        else if (step.kind === 'deliver') hub.deliver(throwError);
        else {
          const event = eventOf(written.length + 1, 'put', step.key, 'a', undefined);
          written.push(event);
          hub.collect([event]);
          hub.flush(event.revision, throwError);
        }
        check();
      }
      const [first] = watches;
      first?.close();
      while (hub.deliver(throwError)) check();
      for (const watch of watches) if (!watch.closed) expect(watch.revision).toBe(hub.revision);
      hub.leaveAll();
      check();
    }),
    { numRuns: 300 },
  );
});

it('delivers at the flush the events that exceed the limit of waiting ones', () => {
  const [sliceEvents, undeliveredMax, eventCount] = [2, 10, 30];
  const hub = new WatchHub(sliceEvents, undeliveredMax);
  let deliveredCount = 0;
  const count = (events: readonly WatchEvent[]) => {
    deliveredCount += events.length;
  };
  const watches = Array.from({ length: 4 }, () => {
    return watchOf({ prefix: '', selects: undefined }, count, true);
  });
  for (const watch of watches) hub.join(watch);
  for (let revision = 1; revision <= eventCount; revision += 1) {
    hub.collect([eventOf(revision, 'put', 'pods/x/a', 'a', undefined)]);
    hub.flush(revision as Revision, throwError);
    expect(revision * watches.length - deliveredCount).toBeLessThanOrEqual(undeliveredMax);
  }
  watches[3]!.close();
  while (hub.deliver(throwError)) expect(deliveredCount).toBeLessThan(eventCount * watches.length);
  for (const watch of watches.slice(0, 3)) expect(watch.pending).toEqual([]);
});

/** Events as `revision`, after the filter that every reader of a watch applies. */
function replay(
  cases: readonly WatchCase[],
  script: readonly Step[],
  seenByHub: (event: WatchEvent) => WatchEvent = (event) => event,
) {
  const hub = new WatchHub();
  const delivered = cases.map((): number[] => []);
  const expected = cases.map((): number[] => []);
  const watches = cases.map((each, at) =>
    watchOf(each, (events) => {
      for (const event of events) if (passes(each, event)) delivered[at]!.push(event.revision);
    }),
  );
  for (const watch of watches) hub.join(watch);
  const current = new Map<string, string>();
  let revision = 0;
  for (const step of script) {
    if (step.kind === 'leave') {
      watches[step.at]?.close();
      continue;
    }
    const before = current.get(step.key);
    if (step.kind === 'delete' && before === undefined) continue;
    revision += 1;
    const after = step.kind === 'put' ? step.value : before!;
    const event = eventOf(revision, step.kind, step.key, after, before);
    if (step.kind === 'put') current.set(step.key, after);
    else current.delete(step.key);
    hub.collect([seenByHub(event)]);
    hub.flush(event.revision, throwError);
    for (const [at, watch] of watches.entries()) {
      const selected = !watch.closed && watch.selects(step.key);
      if (selected && passes(cases[at]!, event)) expected[at]!.push(revision);
    }
  }
  return { delivered, expected };
}

/** Whether an object has entered, left or is in the selection. */
function passes({ selects }: WatchCase, { entry, previous }: WatchEvent): boolean {
  if (!selects) return true;
  const has = (each: Entry | undefined) =>
    each !== undefined && selects.index.valueOf(each) === selects.value;
  return has(entry) || has(previous);
}

function watchOf(
  { prefix, selects }: WatchCase,
  onEvents: (events: readonly WatchEvent[]) => void,
  mayLag = false,
): Watch {
  const afterRevision = 0 as Revision;
  const options = {
    prefix,
    afterRevision,
    onEvents,
    onEnd: throwError,
    ...(selects && { selects }),
    mayLag,
  };
  return new Watch(options, () => undefined);
}

function eventOf(
  at: number,
  kind: WatchEvent['kind'],
  key: string,
  value: string,
  before?: string,
): WatchEvent {
  const revision = at as Revision;
  const entry = (text: string): Entry =>
    ({ key, revision, bytes: Buffer.from(text), derived: undefined }) as unknown as Entry;
  const previous = before === undefined ? undefined : entry(before);
  return { revision, kind, key, previous, entry: entry(value), derived: undefined };
}

function throwError(error: unknown): never {
  throw error;
}

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

it('gives watches that select the same events one list of them', () => {
  const hub = new WatchHub();
  const lists: (readonly WatchEvent[])[] = [];
  for (let watch = 0; watch < 3; watch += 1) {
    const take = (events: readonly WatchEvent[]) => void lists.push(events);
    hub.join(watchOf({ prefix: 'pods/', selects: undefined }, take));
  }
  hub.collect([eventOf(1, 'put', 'pods/x/a', 'a')]);
  hub.collect([eventOf(2, 'put', 'pods/x/b', 'b')]);
  hub.flush(2 as Revision, throwError);
  expect(lists[0]!.map(({ revision }) => revision)).toEqual([1, 2]);
  expect(lists.every((list) => list === lists[0])).toBe(true);
  hub.collect([eventOf(3, 'put', 'pods/x/a', 'c', 'a')]);
  hub.flush(3 as Revision, throwError);
  expect(lists[0]).toHaveLength(2);
  expect(lists[3]!.map(({ revision }) => revision)).toEqual([3]);
});

it('delivers nothing of a flush to a watch that is opened during it', () => {
  const hub = new WatchHub();
  const seen: number[] = [];
  const pods = { prefix: 'pods/', selects: undefined };
  const opened = watchOf(
    pods,
    (events) => seen.push(...events.map(({ revision }) => revision)),
    1 as Revision,
  );
  const open = () => {
    if (!opened.hub) hub.join(opened);
  };
  hub.join(watchOf(pods, open));
  for (const revision of [1, 2] as Revision[]) {
    hub.collect([eventOf(revision, 'put', 'pods/x/a', 'a')]);
    hub.flush(revision, throwError);
  }
  expect(seen).toEqual([2]);
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
  afterRevision = 0 as Revision,
): Watch {
  const options = {
    prefix,
    afterRevision,
    onEvents,
    onEnd: throwError,
    ...(selects && { selects }),
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

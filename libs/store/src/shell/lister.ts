/**
 * Lists a key range as of one revision. Long lists run in slices over a clone of the index (which
 * costs microseconds and keeps showing that moment), giving way to the event loop in between.
 */
import type { ResourceIndex } from '../core/key-space.js';
import { countBelow, prefixEnd } from '../core/ordered-map.js';
import type { StateMachine } from '../core/state-machine.js';
import type { StoredEntry } from '../core/stored-entry.js';
import type { VersionName } from '../core/versions.js';
import { DISK_READ_UNITS, LIST_SLICE_UNITS } from '../limits.js';
import { type Entry, type ListResult, type Revision, StoreError } from '../versioned-store.js';
import { nextTurn } from './turns.js';
import type { VersionReader } from './version-reader.js';

export interface Range {
  readonly prefix: string;
  readonly startAfter: string | undefined;
  readonly limit: number;
}

/** No key sorts before this one and after `key`. */
function successor(key: string): string {
  return `${key}\u0000`;
}

export class Lister {
  constructor(
    private readonly machine: StateMachine,
    private readonly reader: VersionReader,
  ) {}

  /** The present state. */
  async latest(range: Range): Promise<ListResult> {
    const { revision } = this.machine;
    const entries: Entry[] = [];
    const bounds = boundsOf(range);
    const maps = this.#snapshot(range.prefix).map(({ live }) => live);
    let remainingCount = 0;
    let units = 0;
    for (const map of maps) {
      if (entries.length >= range.limit) {
        remainingCount += countFrom(map, bounds.low, bounds.end);
        continue;
      }
      for (const [key, entry] of map.entries(bounds.low, reusedPair())) {
        if (bounds.end !== undefined && key >= bounds.end) break;
        if (entries.length >= range.limit) {
          remainingCount += countFrom(map, key, bounds.end);
          break;
        }
        entries.push(entry);
        units += 1;
        if (units % LIST_SLICE_UNITS === 0) await nextTurn();
      }
    }
    return { entries, revision, remainingCount };
  }

  /** The state at `revision`, which must be known. Throws StoreError `Compacted` when it no longer is. */
  async at(range: Range, revision: Revision): Promise<ListResult> {
    if (revision === this.machine.revision) return this.latest(range);
    const entries: Entry[] = [];
    const bounds = boundsOf(range);
    const indexes = this.#snapshot(range.prefix);
    let units = 0;
    for (const [at, { live, history }] of indexes.entries()) {
      for (const [key, entry] of merged(live, history, bounds)) {
        if (units >= LIST_SLICE_UNITS) {
          units = 0;
          await nextTurn();
          this.#mustBeKept(revision);
        }
        units += 1;
        const found = entry && entry.revision <= revision ? entry : this.#versionOf(key, revision);
        if (found === undefined) continue;
        if (entries.length >= range.limit) {
          const remainingCount = estimateFrom(indexes.slice(at), key, bounds.end);
          return { entries, revision, remainingCount };
        }
        if (found === entry) {
          entries.push(entry);
          continue;
        }
        const recent = this.reader.recent(found);
        if (recent === undefined) units += DISK_READ_UNITS;
        entries.push(recent ?? this.reader.resolve(found));
      }
    }
    return { entries, revision, remainingCount: 0 };
  }

  #versionOf(key: string, revision: Revision): VersionName | undefined {
    return this.machine.keys.versionsOf(key)?.at(revision);
  }

  #snapshot(prefix: string): ResourceIndex[] {
    const indexes = this.machine.keys.resources(prefix);
    let size = 0;
    for (const { live, history } of indexes) size += live.size + history.size;
    if (size * (DISK_READ_UNITS + 1) < LIST_SLICE_UNITS) return indexes;
    return indexes.map(({ resource, live, history }) => ({
      resource,
      live: live.clone(),
      history: history.clone(),
    }));
  }

  #mustBeKept(revision: Revision): void {
    const { compactedRevision } = this.machine;
    if (revision >= compactedRevision) return;
    throw new StoreError(
      'Compacted',
      `revision ${revision} was compacted while it was listed`,
      compactedRevision,
    );
  }
}

type Live = ResourceIndex['live'];
type History = ResourceIndex['history'];

interface Bounds {
  readonly low: string;
  readonly end: string | undefined;
}

function boundsOf({ prefix, startAfter }: Range): Bounds {
  const after = startAfter === undefined ? '' : successor(startAfter);
  return { low: after > prefix ? after : prefix, end: prefixEnd(prefix) };
}

/** The pair that a B-tree iterator fills again and again, in place of an array for each entry. */
function reusedPair(): (string | StoredEntry)[] {
  return [];
}

/** At least one follows; how many is told by the present keys, since counting old ones is a scan. */
function estimateFrom(
  indexes: readonly ResourceIndex[],
  low: string,
  end: string | undefined,
): number {
  let count = 0;
  for (const { live } of indexes) count += countFrom(live, low, end);
  return Math.max(1, count);
}

/** How many live keys there are from `low` on, before `end`. */
function countFrom(map: Live, low: string, end: string | undefined): number {
  return (end === undefined ? map.size : countBelow(map, end)) - countBelow(map, low);
}

/** Keys of both maps in order, each once, with the live entry if there is one. */
function* merged(
  live: Live,
  history: History,
  { low, end }: Bounds,
): Generator<readonly [string, StoredEntry | undefined]> {
  const past = history.keys(low);
  let pastKey: string | undefined = past.next().value;
  const within = (key: string | undefined): key is string =>
    key !== undefined && (end === undefined || key < end);
  for (const [key, entry] of live.entries(low)) {
    if (!within(key)) break;
    for (; within(pastKey) && pastKey < key; pastKey = past.next().value) {
      yield [pastKey, undefined];
    }
    if (pastKey === key) pastKey = past.next().value;
    yield [key, entry];
  }
  for (; within(pastKey); pastKey = past.next().value) yield [pastKey, undefined];
}

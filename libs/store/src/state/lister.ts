/**
 * Lists a key range as of one revision. Long lists run in slices over a clone of the index, which
 * costs microseconds and does not change, and yield to the event loop between slices.
 */
import type { LoopClock } from '@orch/component';
import type { ResourceIndex } from '../core/key-space.js';
import type { StateMachine } from '../core/state-machine.js';
import type { StoredEntry } from '../core/stored-entry.js';
import type { VersionName } from '../core/versions.js';
import { diskReadUnits, listSliceUnits, remainingCountCommitsMax } from '../limits.js';
import { countBelow, prefixEnd } from '../ordered-map.js';
import { type Entry, type ListResult, type Revision, StoreError } from '../versioned-store.js';
import type { VersionReader } from './version-reader.js';

export interface Range {
  readonly prefix: string;
  readonly startAfter: string | undefined;
  readonly limit: number;
}

/** Returns the key that sorts directly after `key`. */
function successor(key: string): string {
  return `${key}\u0000`;
}

export class Lister {
  constructor(
    private readonly machine: StateMachine,
    private readonly reader: VersionReader,
    private readonly clock: LoopClock,
  ) {}

  /** Lists the present state. */
  async latest(range: Range): Promise<ListResult> {
    const { revision } = this.machine;
    const entries: Entry[] = [];
    const bounds = boundsOf(range);
    const maps = this.snapshot(range.prefix).map(({ live }) => live);
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
        if (units % listSliceUnits === 0) await this.clock.nextTurn();
      }
    }
    return { entries, revision, remainingCount };
  }

  /**
   * Lists the state at `revision`, which must not be compacted. Throws StoreError `Compacted` if a
   * compaction overtakes the list.
   */
  async at(range: Range, revision: Revision): Promise<ListResult> {
    if (revision === this.machine.revision) return this.latest(range);
    const entries: Entry[] = [];
    const bounds = boundsOf(range);
    const indexes = this.snapshot(range.prefix);
    const shownRevision = this.machine.revision;
    let units = 0;
    for (const [at, { live, history }] of indexes.entries()) {
      for (const [key, entry] of merged(live, history, bounds)) {
        if (units >= listSliceUnits) {
          units = 0;
          await this.clock.nextTurn();
          this.mustBeStored(revision);
        }
        units += 1;
        const found = entry && entry.revision <= revision ? entry : this.versionOf(key, revision);
        if (found === undefined) continue;
        if (entries.length >= range.limit) {
          const following = indexes.slice(at);
          const remainingCount =
            countPresent(following, key, bounds.end) +
            this.removedSince(revision, shownRevision, following, key, bounds.end);
          return { entries, revision, remainingCount: Math.max(1, remainingCount) };
        }
        if (found === entry) {
          entries.push(entry);
          continue;
        }
        const recent = this.reader.recent(found);
        if (recent === undefined) units += diskReadUnits;
        entries.push(recent ?? this.reader.resolve(found));
      }
    }
    return { entries, revision, remainingCount: 0 };
  }

  /**
   * * Returns by how many the range had more keys at `revision` than at `shownRevision`, the
   *   revision of `indexes`, counted from the events between them. 0 if the events are too many or
   *   no longer in memory: the remaining count is then an estimate.
   */
  private removedSince(
    revision: Revision,
    shownRevision: Revision,
    indexes: readonly ResourceIndex[],
    low: string,
    end: string | undefined,
  ): number {
    const { ring } = this.machine;
    if (ring.firstRevision > revision + 1) return 0;
    if (shownRevision - revision > remainingCountCommitsMax) return 0;
    const seen = new Set<string>();
    let difference = 0;
    for (let at = revision + 1; at <= shownRevision; at++) {
      for (const { key, previous } of ring.commit(at) ?? []) {
        if (key < low || (end !== undefined && key >= end) || seen.has(key)) continue;
        seen.add(key);
        const isLive = indexes.some(({ live }) => live.has(key));
        difference += Number(previous !== undefined) - Number(isLive);
      }
    }
    return difference;
  }

  private versionOf(key: string, revision: Revision): VersionName | undefined {
    return this.machine.keys.versionsOf(key)?.at(revision);
  }

  private snapshot(prefix: string): ResourceIndex[] {
    const indexes = this.machine.keys.resources(prefix);
    let size = 0;
    for (const { live, history } of indexes) size += live.size + history.size;
    if (size * (diskReadUnits + 1) < listSliceUnits) return indexes;
    return indexes.map((index) => ({
      ...index,
      live: index.live.clone(),
      history: index.history.clone(),
    }));
  }

  private mustBeStored(revision: Revision): void {
    const { oldestRevision } = this.machine;
    if (revision >= oldestRevision) return;
    throw new StoreError(
      'Compacted',
      `revision ${revision} was compacted while it was listed`,
      oldestRevision,
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

/** Returns a pair for the B-tree iterator to reuse, in place of an array per entry. */
function reusedPair(): (string | StoredEntry)[] {
  return [];
}

/** Counts the live keys of these resources from `low` on, before `end`. */
function countPresent(
  indexes: readonly ResourceIndex[],
  low: string,
  end: string | undefined,
): number {
  let count = 0;
  for (const { live } of indexes) count += countFrom(live, low, end);
  return count;
}

/** Counts the live keys from `low` on, before `end`. */
function countFrom(map: Live, low: string, end: string | undefined): number {
  return (end === undefined ? map.size : countBelow(map, end)) - countBelow(map, low);
}

/** Yields the keys of both maps in order, each once, with the live entry if it exists. */
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

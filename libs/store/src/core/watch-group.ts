/**
 * The watches with the same prefix. Watches that select by an index are found by their value; all
 * others are candidates for every event.
 */
import type { WatchEvent, WatchIndex, WatchOptions } from '../versioned-store.js';

interface GroupedWatch {
  readonly options: Pick<WatchOptions, 'selects'>;
}

export class WatchGroup<Watch extends GroupedWatch> {
  private readonly plain = new Set<Watch>();
  private readonly indexed = new Map<WatchIndex, Map<string, Set<Watch>>>();
  private size = 0;

  get watchCount(): number {
    return this.size;
  }

  add(watch: Watch): void {
    this.size += 1;
    const { selects } = watch.options;
    if (!selects) {
      this.plain.add(watch);
      return;
    }
    let byValue = this.indexed.get(selects.index);
    if (!byValue) {
      byValue = new Map();
      this.indexed.set(selects.index, byValue);
    }
    const watches = byValue.get(selects.value);
    if (watches) watches.add(watch);
    else byValue.set(selects.value, new Set([watch]));
  }

  /** Returns false if the watch is not in the group. */
  remove(watch: Watch): boolean {
    const { selects } = watch.options;
    const byValue = selects && this.indexed.get(selects.index);
    const watches = selects ? byValue?.get(selects.value) : this.plain;
    if (!watches?.delete(watch)) return false;
    this.size -= 1;
    if (selects && byValue && watches.size === 0) {
      byValue.delete(selects.value);
      if (byValue.size === 0) this.indexed.delete(selects.index);
    }
    return true;
  }

  all(): Watch[] {
    const indexed = [...this.indexed.values()].flatMap((byValue) => [...byValue.values()]);
    return [this.plain, ...indexed].flatMap((watches) => [...watches]);
  }

  /** Calls `visit` once for each watch that may select the event. */
  forEachCandidate(event: WatchEvent, visit: (watch: Watch) => void): void {
    for (const watch of this.plain) visit(watch);
    for (const [index, byValue] of this.indexed) {
      for (const watches of selected(byValue, index, event)) {
        for (const watch of watches) visit(watch);
      }
    }
  }
}

/** The watches for the value that the object of the event has, and for the one that it had. */
function selected<Watch>(
  byValue: ReadonlyMap<string, Set<Watch>>,
  index: WatchIndex,
  { entry, previous }: WatchEvent,
): Iterable<Set<Watch>> {
  const value = index.valueOf(entry);
  const before = previous ? index.valueOf(previous) : value;
  if (value === undefined || before === undefined) return byValue.values();
  const values = before === value ? [value] : [value, before];
  return values.flatMap((each) => byValue.get(each) ?? []);
}

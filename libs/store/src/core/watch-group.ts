/**
 * The watches with the same prefix, in cells: watches of one cell select the same events, which
 * wait for them in one list. Watches that select by an index have a cell for each value; the cell
 * of all others gets every event.
 */
import type { WatchEvent, WatchIndex, WatchOptions } from '../versioned-store.js';

interface GroupedWatch {
  readonly options: Pick<WatchOptions, 'selects'>;
}

export class WatchCell<Watch> {
  readonly watches = new Set<Watch>();
  private pending: WatchEvent[] = [];

  /** Returns whether it is the first that waits. */
  add(event: WatchEvent): boolean {
    return this.pending.push(event) === 1;
  }

  /** Returns the events that wait, at least one; the caller owns the list. */
  take(): WatchEvent[] {
    const { pending } = this;
    this.pending = [];
    return pending;
  }
}

export class WatchGroup<Watch extends GroupedWatch> {
  private readonly plain = new WatchCell<Watch>();
  private readonly indexed = new Map<WatchIndex, Map<string, WatchCell<Watch>>>();
  private size = 0;

  get watchCount(): number {
    return this.size;
  }

  add(watch: Watch): void {
    this.size += 1;
    const { selects } = watch.options;
    if (!selects) {
      this.plain.watches.add(watch);
      return;
    }
    let byValue = this.indexed.get(selects.index);
    if (!byValue) {
      byValue = new Map();
      this.indexed.set(selects.index, byValue);
    }
    let cell = byValue.get(selects.value);
    if (!cell) {
      cell = new WatchCell();
      byValue.set(selects.value, cell);
    }
    cell.watches.add(watch);
  }

  /** Returns false if the watch is not in the group. */
  remove(watch: Watch): boolean {
    const { selects } = watch.options;
    const byValue = selects && this.indexed.get(selects.index);
    const cell = selects ? byValue?.get(selects.value) : this.plain;
    if (!cell?.watches.delete(watch)) return false;
    this.size -= 1;
    if (selects && byValue && cell.watches.size === 0) {
      byValue.delete(selects.value);
      if (byValue.size === 0) this.indexed.delete(selects.index);
    }
    return true;
  }

  all(): Watch[] {
    const indexed = [...this.indexed.values()].flatMap((byValue) => [...byValue.values()]);
    return [this.plain, ...indexed].flatMap(({ watches }) => [...watches]);
  }

  /** Calls `visit` once for each cell with watches that may select the event. */
  forEachCandidate(event: WatchEvent, visit: (cell: WatchCell<Watch>) => void): void {
    if (this.plain.watches.size > 0) visit(this.plain);
    for (const [index, byValue] of this.indexed) {
      for (const cell of selected(byValue, index, event)) visit(cell);
    }
  }
}

/** The cells of the value that the object of the event has, and of the one that it had. */
function selected<Watch>(
  byValue: ReadonlyMap<string, WatchCell<Watch>>,
  index: WatchIndex,
  { entry, previous }: WatchEvent,
): Iterable<WatchCell<Watch>> {
  const value = index.valueOf(entry);
  const before = previous ? index.valueOf(previous) : value;
  if (value === undefined || before === undefined) return byValue.values();
  const values = before === value ? [value] : [value, before];
  return values.flatMap((each) => byValue.get(each) ?? []);
}

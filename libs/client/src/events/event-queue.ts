/**
 * Events that wait to be written. Those about one object are taken in order and one at a time; the
 * objects take turns. Every operation costs the same whatever the number of waiting events.
 */

export class EventQueue<Recorded extends object> {
  /** The waiting events of each object, by key, oldest first. No list is empty. */
  private readonly waiting = new Map<string, Map<string, Recorded>>();
  /** The objects with waiting events of which none is in work. */
  private readonly ready = new Set<string>();
  private readonly inWork = new Set<string>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Returns the waiting event with this key; undefined if there is none. */
  find(about: string, key: string): Recorded | undefined {
    return this.waiting.get(about)?.get(key);
  }

  add(about: string, key: string, recorded: Recorded): void {
    const events = this.waiting.get(about) ?? new Map<string, Recorded>();
    events.set(key, recorded);
    this.count += 1;
    this.waiting.set(about, events);
    if (!this.inWork.has(about)) this.ready.add(about);
  }

  /** Takes an event about an object of which none is in work, until `release`. */
  take(): { readonly about: string; readonly recorded: Recorded } | undefined {
    const [about] = this.ready;
    if (about === undefined) return undefined;
    this.ready.delete(about);
    const events = this.waiting.get(about)!;
    const [key, recorded] = firstOf(events);
    events.delete(key);
    if (events.size === 0) this.waiting.delete(about);
    this.count -= 1;
    this.inWork.add(about);
    return { about, recorded };
  }

  release(about: string): void {
    this.inWork.delete(about);
    if (this.waiting.has(about)) this.ready.add(about);
  }
}

function firstOf<Key, Value>(map: ReadonlyMap<Key, Value>): [Key, Value] {
  for (const entry of map) return entry;
  throw new Error('the map is empty');
}

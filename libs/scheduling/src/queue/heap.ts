/** A binary heap with access by key: push, pop and remove in O(log n). */
export class KeyedHeap<T extends { readonly key: string }> {
  private readonly items: T[] = [];
  private readonly positions = new Map<string, number>();

  /** `before(a, b)`: whether a is popped before b. */
  constructor(private readonly before: (a: T, b: T) => boolean) {}

  get size(): number {
    return this.items.length;
  }

  get(key: string): T | undefined {
    const position = this.positions.get(key);
    return position === undefined ? undefined : this.items[position];
  }

  peek(): T | undefined {
    return this.items[0];
  }

  /** Adds an item; replaces the item with the same key. */
  push(item: T): void {
    const position = this.positions.get(item.key);
    if (position !== undefined) {
      this.items[position] = item;
      this.settle(position);
      return;
    }
    this.items.push(item);
    this.positions.set(item.key, this.items.length - 1);
    this.settle(this.items.length - 1);
  }

  pop(): T | undefined {
    const first = this.items[0];
    if (first) this.remove(first.key);
    return first;
  }

  remove(key: string): T | undefined {
    const position = this.positions.get(key);
    if (position === undefined) return undefined;
    const removed = this.items[position];
    const last = this.items.pop()!;
    this.positions.delete(key);
    if (position < this.items.length) {
      this.items[position] = last;
      this.positions.set(last.key, position);
      this.settle(position);
    }
    return removed;
  }

  private settle(start: number): void {
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.before(this.items[position]!, this.items[parent]!)) break;
      this.swap(position, parent);
      position = parent;
    }
    for (;;) {
      let first = position;
      for (const child of [2 * position + 1, 2 * position + 2]) {
        if (child >= this.items.length) continue;
        if (this.before(this.items[child]!, this.items[first]!)) first = child;
      }
      if (first === position) return;
      this.swap(position, first);
      position = first;
    }
  }

  private swap(a: number, b: number): void {
    const [itemA, itemB] = [this.items[a]!, this.items[b]!];
    this.items[a] = itemB;
    this.items[b] = itemA;
    this.positions.set(itemB.key, a);
    this.positions.set(itemA.key, b);
  }
}

/** A first in, first out queue with a fixed maximum: over it `push` refuses, it never grows or drops. */
export class BoundedQueue<T> {
  private items: (T | undefined)[] = [];
  private head = 0;

  constructor(readonly itemCountMax: number) {
    if (!Number.isInteger(itemCountMax) || itemCountMax < 1) {
      throw new Error(`a queue needs room for at least one item, got ${itemCountMax}`);
    }
  }

  get length(): number {
    return this.items.length - this.head;
  }

  /** False when the queue is full; the item was not taken then. */
  push(item: T): boolean {
    if (this.length >= this.itemCountMax) return false;
    this.items.push(item);
    return true;
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.items[this.head];
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head > 64 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  /** Takes out everything. */
  drain(): T[] {
    const rest = this.items.slice(this.head) as T[];
    this.items = [];
    this.head = 0;
    return rest;
  }
}

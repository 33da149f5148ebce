/** A queue that removes any item in constant time. An item is in at most one queue. */

export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

export class Fifo<T extends Linked<T>> implements Iterable<T> {
  private head: T | undefined;
  private tail: T | undefined;
  private count = 0;

  get length(): number {
    return this.count;
  }

  get first(): T | undefined {
    return this.head;
  }

  push(item: T): void {
    item.previous = this.tail;
    item.next = undefined;
    if (this.tail) this.tail.next = item;
    else this.head = item;
    this.tail = item;
    this.count += 1;
  }

  /** The item must be in this queue. */
  remove(item: T): void {
    const { previous, next } = item;
    if (previous) previous.next = next;
    else this.head = next;
    if (next) next.previous = previous;
    else this.tail = previous;
    item.previous = undefined;
    item.next = undefined;
    this.count -= 1;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let item = this.head; item; item = item.next) yield item;
  }
}

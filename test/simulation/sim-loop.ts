/**
 * The event loop of a simulated world: due work runs in order of time, then of scheduling, one item
 * per step; its promises settle before the next. Nothing else advances the time.
 */

interface Due {
  readonly atMs: number;
  readonly sequence: number;
  /** Undefined: cancelled. */
  work: (() => void) | undefined;
}

export interface Scheduled {
  cancel(): void;
}

export class SimLoop {
  nowMs = 0;
  stepCount = 0;
  private sequence = 0;
  /** A binary heap: the earliest first. */
  private readonly heap: Due[] = [];

  /** Runs `work` once at `atMs`, or immediately when that has passed. */
  at(atMs: number, work: () => void): Scheduled {
    this.sequence += 1;
    const due: Due = { atMs: Math.max(atMs, this.nowMs), sequence: this.sequence, work };
    this.push(due);
    return {
      cancel: () => {
        due.work = undefined;
      },
    };
  }

  after(delayMs: number, work: () => void): Scheduled {
    return this.at(this.nowMs + delayMs, work);
  }

  /** One step; false when nothing is due any more. */
  async step(): Promise<boolean> {
    for (let due = this.pop(); due; due = this.pop()) {
      const { work, atMs } = due;
      if (!work) continue;
      this.nowMs = atMs;
      this.stepCount += 1;
      work();
      await settled();
      return true;
    }
    return false;
  }

  private push(due: Due): void {
    const heap = this.heap;
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!isEarlier(due, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = due;
  }

  private pop(): Due | undefined {
    const heap = this.heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isEarlier(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isEarlier(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isEarlier(left: Due, right: Due): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.sequence < right.sequence);
}

/** Every promise that can run has run: none waits for anything real. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

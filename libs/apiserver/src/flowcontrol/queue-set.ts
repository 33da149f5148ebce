/**
 * The requests of one priority level: at most its number of seats execute, others wait in queues,
 * each in the shortest queue of its flow's hand. Fair queuing selects the next request: each queue
 * has a virtual start time, which advances by the seat time of its requests, and the queue with the
 * lowest one is next. Queues in use therefore share the seat time evenly, however many requests
 * wait in each.
 *
 * Invariants: no more requests execute than there are seats, except after a reduction of the seats;
 * while a request waits, no seat is free; each queue is first in, first out. Pure: time is passed
 * in, in monotonic milliseconds; dispatched requests are returned.
 */
import { Fifo, type Linked } from './fifo.js';

export interface QueueSetLimits {
  /** Maximum number of executing requests. */
  readonly seatCount: number;
  /** 0: no request waits. */
  readonly queueCount: number;
  /** Maximum number of waiting requests in one queue. */
  readonly queueLengthMax: number;
  /** A request that waits for longer is rejected. */
  readonly waitMs: number;
}

/** Assumed execution time of a request until its real one is measured. */
const estimatedExecutionMs = 60_000;

/** One request. */
export class Ticket<T> implements Linked<Ticket<T>> {
  previous: Ticket<T> | undefined;
  next: Ticket<T> | undefined;
  state: 'waiting' | 'executing' | 'ended' = 'waiting';
  startMs = 0;

  constructor(
    readonly request: T,
    /** Undefined for a request that arrived when the level had no queues. */
    readonly queue: Queue<T> | undefined,
    readonly arrivalMs: number,
  ) {}
}

/** A queue with waiting or executing requests. */
export class Queue<T> {
  readonly waiting = new Fifo<Ticket<T>>();
  executingCount = 0;

  constructor(
    readonly index: number,
    public virtualStartMs: number,
  ) {}
}

/** Why a request is rejected on arrival. */
export type Refusal = 'queue-full' | 'concurrency-limit';

export class QueueSet<T> {
  private readonly queues = new Map<number, Queue<T>>();
  private readonly queuesWithWaiting = new Set<Queue<T>>();
  private executing = 0;
  /** The number of `executing` requests that arrived through a queue. */
  private queuedExecuting = 0;
  private waiting = 0;
  private virtualMs = 0;
  private lastIndex = 0;

  constructor(
    private limits: QueueSetLimits,
    private nowMs: number,
  ) {}

  get executingCount(): number {
    return this.executing;
  }

  get waitingCount(): number {
    return this.waiting;
  }

  get isIdle(): boolean {
    return this.executing === 0 && this.waiting === 0;
  }

  /** Changes the limits. Removed queues drain under their previous limits. */
  configure(limits: QueueSetLimits, nowMs: number): Ticket<T>[] {
    this.advance(nowMs);
    const { queueLengthMax } = this.limits;
    this.limits = limits.queueCount > 0 ? limits : { ...limits, queueLengthMax };
    return this.dispatch();
  }

  /**
   * Adds a request. `hand`: indexes of the flow's queues. The state of the ticket says whether it
   * executes or waits.
   */
  arrive(request: T, hand: readonly number[], nowMs: number): Ticket<T> | Refusal {
    this.advance(nowMs);
    const { seatCount, queueCount, queueLengthMax } = this.limits;
    const hasSeat = this.executing < seatCount;
    if (queueCount === 0) {
      if (!hasSeat) return 'concurrency-limit';
      return this.execute(new Ticket(request, undefined, nowMs));
    }
    const index = this.shortestOf(hand);
    const length = this.queues.get(index)?.waiting.length ?? 0;
    if (!hasSeat && length >= queueLengthMax) return 'queue-full';
    const queue = this.queueAt(index);
    const ticket = new Ticket(request, queue, nowMs);
    if (hasSeat) return this.execute(ticket);
    queue.waiting.push(ticket);
    this.queuesWithWaiting.add(queue);
    this.waiting += 1;
    return ticket;
  }

  /** Ends an executing request. Returns the requests that start instead. */
  leave(ticket: Ticket<T>, nowMs: number): readonly Ticket<T>[] {
    if (ticket.state !== 'executing')
      throw new Error(`cannot end a request that is ${ticket.state}`);
    this.advance(nowMs);
    ticket.state = 'ended';
    this.executing -= 1;
    const { queue } = ticket;
    if (queue) {
      queue.executingCount -= 1;
      this.queuedExecuting -= 1;
      queue.virtualStartMs -= estimatedExecutionMs - (nowMs - ticket.startMs);
      this.dropUnused(queue);
    }
    return this.waiting === 0 ? nobody : this.dispatch();
  }

  /** Removes a waiting request. No other request starts. */
  cancel(ticket: Ticket<T>, nowMs: number): void {
    if (ticket.state !== 'waiting')
      throw new Error(`cannot cancel a request that is ${ticket.state}`);
    this.advance(nowMs);
    this.takeOut(ticket);
    ticket.state = 'ended';
    this.dropUnused(ticket.queue!);
  }

  /** Removes and returns the requests whose wait is over. */
  expire(nowMs: number): Ticket<T>[] {
    this.advance(nowMs);
    const expired: Ticket<T>[] = [];
    for (const queue of this.queuesWithWaiting) {
      for (;;) {
        const { first } = queue.waiting;
        if (!first || nowMs - first.arrivalMs < this.limits.waitMs) break;
        this.cancel(first, nowMs);
        expired.push(first);
      }
    }
    return expired;
  }

  /** Time of the next expiry; undefined if no request waits. */
  get nextExpiryMs(): number | undefined {
    let earliestMs: number | undefined;
    for (const { waiting } of this.queuesWithWaiting) {
      const { arrivalMs } = waiting.first!;
      if (earliestMs === undefined || arrivalMs < earliestMs) earliestMs = arrivalMs;
    }
    return earliestMs === undefined ? undefined : earliestMs + this.limits.waitMs;
  }

  /** Queues in use, by index. */
  inUse(): ReadonlyMap<number, Queue<T>> {
    return this.queues;
  }

  /** Advances virtual time at the rate at which a queue in use gets seat time. */
  private advance(nowMs: number): void {
    const elapsedMs = nowMs - this.nowMs;
    this.nowMs = nowMs;
    const { size } = this.queues;
    if (size === 0) return;
    const seats = Math.min(this.queuedExecuting, this.limits.seatCount);
    this.virtualMs += (elapsedMs * seats) / size;
  }

  private shortestOf(hand: readonly number[]): number {
    let shortest = hand[0]!;
    // A free seat implies that no request waits.
    if (this.waiting === 0) return shortest;
    let lengthMin = Number.POSITIVE_INFINITY;
    for (const index of hand) {
      const length = this.queues.get(index)?.waiting.length ?? 0;
      if (length >= lengthMin) continue;
      lengthMin = length;
      shortest = index;
    }
    return shortest;
  }

  private queueAt(index: number): Queue<T> {
    let queue = this.queues.get(index);
    if (!queue) {
      queue = new Queue<T>(index, this.virtualMs);
      this.queues.set(index, queue);
    }
    return queue;
  }

  private execute(ticket: Ticket<T>): Ticket<T> {
    ticket.state = 'executing';
    ticket.startMs = this.nowMs;
    this.executing += 1;
    const { queue } = ticket;
    if (queue) {
      queue.executingCount += 1;
      this.queuedExecuting += 1;
      queue.virtualStartMs += estimatedExecutionMs;
    }
    return ticket;
  }

  private dispatch(): Ticket<T>[] {
    const dispatched: Ticket<T>[] = [];
    while (this.waiting > 0 && this.executing < this.limits.seatCount) {
      const queue = this.nextQueue();
      const ticket = queue.waiting.first!;
      this.takeOut(ticket);
      dispatched.push(this.execute(ticket));
    }
    return dispatched;
  }

  /** The queue with the lowest virtual start; among equals, the next one round-robin. */
  private nextQueue(): Queue<T> {
    let next: Queue<T> | undefined;
    for (const queue of this.queuesWithWaiting) {
      if (!next || queue.virtualStartMs < next.virtualStartMs) next = queue;
      else if (queue.virtualStartMs === next.virtualStartMs && this.comesBefore(queue, next)) {
        next = queue;
      }
    }
    if (!next) throw new Error('nobody waits');
    this.lastIndex = next.index;
    return next;
  }

  private comesBefore(a: Queue<T>, b: Queue<T>): boolean {
    const isPassedA = a.index <= this.lastIndex;
    const isPassedB = b.index <= this.lastIndex;
    return isPassedA === isPassedB ? a.index < b.index : isPassedB;
  }

  private takeOut(ticket: Ticket<T>): void {
    const queue = ticket.queue!;
    queue.waiting.remove(ticket);
    if (queue.waiting.length === 0) this.queuesWithWaiting.delete(queue);
    this.waiting -= 1;
  }

  private dropUnused(queue: Queue<T>): void {
    if (queue.executingCount === 0 && queue.waiting.length === 0) this.queues.delete(queue.index);
  }
}

const nobody: readonly never[] = [];

/**
 * The requests of one priority level: as many as it has seats are executing, others wait in queues, each
 * in the shortest of its flow's hand. Fair queuing decides who is next: every queue has a virtual start
 * time, which each of its requests moves on by the time it held a seat, and the queue that is least far
 * goes first. So queues in use share the seats' time evenly, however many requests wait in each.
 *
 * Invariants: no more requests execute than there are seats, but for those that executed when seats were
 * taken away; while anyone waits, no seat is free; who came first to a queue leaves it first. Pure: the
 * time is passed in, in milliseconds that never go back; who is dispatched is returned.
 */
import { Fifo, type Linked } from './fifo.js';

export interface QueueSetLimits {
  /** Requests that execute at a time. */
  readonly seatCount: number;
  /** 0: nobody waits. */
  readonly queueCount: number;
  /** Requests that wait in one queue. */
  readonly queueLengthMax: number;
  /** Who has waited that long is turned away. */
  readonly waitMs: number;
}

/** A request is taken to hold its seat that long until it is known how long it did. */
const estimatedExecutionMs = 60_000;

/** One request. */
export class Ticket<T> implements Linked<Ticket<T>> {
  previous: Ticket<T> | undefined;
  next: Ticket<T> | undefined;
  state: 'waiting' | 'executing' | 'ended' = 'waiting';
  startMs = 0;

  constructor(
    readonly request: T,
    /** Undefined for a request that came when there were no queues. */
    readonly queue: Queue<T> | undefined,
    readonly arrivalMs: number,
  ) {}
}

/** In use: it has requests that wait or execute. */
export class Queue<T> {
  readonly waiting = new Fifo<Ticket<T>>();
  executingCount = 0;

  constructor(
    readonly index: number,
    public virtualStartMs: number,
  ) {}
}

/** Why a request was turned away at once. */
export type Refusal = 'queue-full' | 'concurrency-limit';

export class QueueSet<T> {
  private readonly queues = new Map<number, Queue<T>>();
  private readonly queuesWithWaiting = new Set<Queue<T>>();
  private executing = 0;
  /** Of `executing`, those that came through a queue. */
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

  /** Queues beyond the new number drain; the limits of queues that go away stay for them. */
  configure(limits: QueueSetLimits, nowMs: number): Ticket<T>[] {
    this.advance(nowMs);
    const { queueLengthMax } = this.limits;
    this.limits = limits.queueCount > 0 ? limits : { ...limits, queueLengthMax };
    return this.dispatch();
  }

  /** `hand`: indexes of the flow's queues. The ticket says whether the request executes or waits. */
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

  /** A request that executed has ended. Returns who executes now instead. */
  leave(ticket: Ticket<T>, nowMs: number): readonly Ticket<T>[] {
    if (ticket.state !== 'executing') throw new Error(`a request that is ${ticket.state} left`);
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

  /** A request that waits gives up; nothing for others. */
  cancel(ticket: Ticket<T>, nowMs: number): void {
    if (ticket.state !== 'waiting') throw new Error(`a request that is ${ticket.state} gave up`);
    this.advance(nowMs);
    this.takeOut(ticket);
    ticket.state = 'ended';
    this.dropUnused(ticket.queue!);
  }

  /** Ends the wait of those who have waited for too long, and returns them. */
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

  /** When the next wait is over; undefined when nobody waits. */
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

  /** Virtual time goes as fast as a queue in use gets seats' time. */
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
    // Who finds a seat free finds nobody waiting.
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

  /** The one least far; of several, the next after the last one in a round through all. */
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

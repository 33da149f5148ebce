import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueueSet, type QueueSetLimits, type Ticket } from './queue-set.js';

const limits = (change: Partial<QueueSetLimits> = {}): QueueSetLimits => ({
  seatCount: 2,
  queueCount: 8,
  queueLengthMax: 3,
  waitMs: 100,
  ...change,
});

const limitsArbitrary = fc.record({
  seatCount: fc.integer({ min: 1, max: 4 }),
  queueCount: fc.constantFrom(0, 1, 3, 6),
  queueLengthMax: fc.integer({ min: 1, max: 3 }),
  waitMs: fc.constantFrom(20, 100),
});

const actions = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('arrive'), choice: fc.nat(50) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('leave'), choice: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel'), choice: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass'), choice: fc.nat(60) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('configure'),
      choice: fc.nat(50),
      to: limitsArbitrary,
    }),
  },
);

/** Observes a queue set from outside, with every request in one list. */
class Observed {
  nowMs = 1_000;
  readonly tickets: Ticket<number>[] = [];
  readonly ended = new Set<Ticket<number>>();
  refusedCount = 0;
  private readonly set: QueueSet<number>;

  constructor(public limits: QueueSetLimits) {
    this.set = new QueueSet(limits, this.nowMs);
  }

  in(state: Ticket<number>['state']): Ticket<number>[] {
    return this.tickets.filter((ticket) => ticket.state === state);
  }

  act(action: { kind: string; choice: number; to?: QueueSetLimits }): void {
    const executingBefore = this.in('executing').length;
    const { nowMs } = this;
    const picked = (tickets: Ticket<number>[]) => tickets[action.choice % tickets.length];
    if (action.kind === 'arrive') this.arrive(action.choice);
    if (action.kind === 'leave') this.leave(picked(this.in('executing')));
    if (action.kind === 'cancel') {
      const ticket = picked(this.in('waiting'));
      if (ticket) this.set.cancel(ticket, nowMs);
      if (ticket) this.ended.add(ticket);
    }
    if (action.kind === 'pass') this.pass(action.choice);
    if (action.kind === 'configure') {
      this.limits = action.to!;
      this.checkOrder(this.set.configure(action.to!, nowMs));
    }
    this.check(executingBefore);
  }

  private arrive(choice: number): void {
    const { queueCount, queueLengthMax, seatCount } = this.limits;
    const hand = queueCount > 1 ? [choice % queueCount, (choice + 1) % queueCount] : [0];
    const waitingIn = (index: number) =>
      this.in('waiting').filter(({ queue }) => queue?.index === index).length;
    const shortest = Math.min(...hand.map(waitingIn));
    const isFull = this.in('executing').length >= seatCount;
    const outcome = this.set.arrive(this.tickets.length, hand, this.nowMs);
    if (typeof outcome === 'string') {
      this.refusedCount += 1;
      expect(isFull).toBe(true);
      expect(outcome).toBe(queueCount === 0 ? 'concurrency-limit' : 'queue-full');
      if (queueCount > 0) expect(shortest).toBeGreaterThanOrEqual(queueLengthMax);
      return;
    }
    this.tickets.push(outcome);
    expect(outcome.state).toBe(isFull ? 'waiting' : 'executing');
    if (isFull) expect(waitingIn(outcome.queue!.index)).toBe(shortest + 1);
  }

  private leave(ticket: Ticket<number> | undefined): void {
    if (!ticket) return;
    this.ended.add(ticket);
    this.checkOrder(this.set.leave(ticket, this.nowMs));
  }

  /** Expires requests when the next wait is over, not before, as flow control does. */
  private pass(durationMs: number): void {
    const untilMs = this.nowMs + durationMs;
    for (;;) {
      const nextMs = this.set.nextExpiryMs;
      if (nextMs === undefined || nextMs > untilMs) break;
      this.nowMs = Math.max(this.nowMs, nextMs);
      const expired = this.set.expire(this.nowMs);
      expect(expired.length).toBeGreaterThan(0);
      for (const ticket of expired) {
        expect(this.nowMs - ticket.arrivalMs).toBeGreaterThanOrEqual(this.limits.waitMs);
        this.ended.add(ticket);
      }
    }
    this.nowMs = untilMs;
    const overdue = this.in('waiting').filter(
      ({ arrivalMs }) => untilMs - arrivalMs >= this.limits.waitMs,
    );
    expect(overdue).toEqual([]);
  }

  private checkOrder(dispatched: readonly Ticket<number>[]): void {
    for (const { request, queue, state } of dispatched) {
      expect(state).toBe('executing');
      for (const other of queue!.waiting) expect(other.request).toBeGreaterThan(request);
    }
  }

  private check(executingBefore: number): void {
    const executing = this.in('executing').length;
    const waiting = this.in('waiting').length;
    expect(executing).toBeLessThanOrEqual(Math.max(this.limits.seatCount, executingBefore));
    if (waiting > 0) expect(executing).toBeGreaterThanOrEqual(this.limits.seatCount);
    expect(new Set(this.in('ended'))).toEqual(this.ended);
    expect([this.set.executingCount, this.set.waitingCount]).toEqual([executing, waiting]);
    const queued = [...this.set.inUse().values()].flatMap(({ waiting: fifo }) => [...fifo]);
    expect(new Set(queued)).toEqual(new Set(this.in('waiting')));
    for (const { waiting: fifo, executingCount } of this.set.inUse().values()) {
      expect(fifo.length + executingCount).toBeGreaterThan(0);
    }
  }

  drain(): void {
    for (;;) {
      const [ticket] = this.in('executing');
      if (!ticket) break;
      this.act({ kind: 'leave', choice: 0 });
    }
    expect(this.in('waiting')).toEqual([]);
    expect(this.set.isIdle).toBe(true);
    expect(this.set.inUse().size).toBe(0);
  }
}

describe('a queue set', () => {
  it('loses no request and uses every seat but no more, in any order of actions', () => {
    fc.assert(
      fc.property(limitsArbitrary, fc.array(actions, { maxLength: 120 }), (first, all) => {
        const observed = new Observed(first);
        for (const action of all) observed.act(action);
        observed.drain();
        expect(observed.ended.size).toBe(observed.tickets.length);
      }),
    );
  });

  it('rejects a request if it has no queues or they are full', () => {
    const set = new QueueSet<string>(limits({ queueCount: 0, seatCount: 1 }), 0);
    const first = set.arrive('a', [], 0) as Ticket<string>;
    expect(set.arrive('b', [], 0)).toBe('concurrency-limit');
    set.configure(limits({ queueCount: 2, queueLengthMax: 1, seatCount: 1 }), 0);
    expect(set.arrive('c', [0, 1], 0)).toMatchObject({ state: 'waiting' });
    expect(set.arrive('d', [0, 1], 0)).toMatchObject({ state: 'waiting' });
    expect(set.arrive('e', [0, 1], 0)).toBe('queue-full');
    expect(set.leave(first, 1).map(({ request }) => request)).toHaveLength(1);
  });

  it('drains removed queues round-robin with the others', () => {
    const set = new QueueSet<string>(limits({ queueCount: 8, seatCount: 1 }), 0);
    let executing = set.arrive('first', [0], 0) as Ticket<string>;
    for (const name of ['old-1', 'old-2']) set.arrive(name, [7], 0);
    set.configure(limits({ queueCount: 2, seatCount: 1 }), 0);
    for (const name of ['new-1', 'new-2']) set.arrive(name, [1], 0);
    const order: string[] = [];
    for (let nowMs = 10; set.waitingCount > 0; nowMs += 10) {
      [executing] = set.leave(executing, nowMs) as [Ticket<string>];
      order.push(executing.request);
    }
    expect(order).toEqual(['new-1', 'old-1', 'new-2', 'old-2']);
  });

  it('rejects the second end of a request', () => {
    const set = new QueueSet<string>(limits(), 0);
    const ticket = set.arrive('a', [0], 0) as Ticket<string>;
    set.leave(ticket, 1);
    expect(() => set.leave(ticket, 2)).toThrow('cannot end a request that is ended');
    expect(() => set.cancel(ticket, 2)).toThrow('cannot cancel a request that is ended');
  });
});

interface Load {
  readonly executionMs: number;
  readonly queue: number;
}

/** Seat time of each load, all of which have more requests at any time. */
function sharesOf(loads: readonly Load[], seatCount: number, durationMs: number): number[] {
  const set = new QueueSet<number>(limits({ seatCount, queueLengthMax: 1_000, waitMs: 1e9 }), 0);
  const shares = loads.map(() => 0);
  let executing: Ticket<number>[] = [];
  const backlog = loads.map(() => 0);
  const fill = (nowMs: number) => {
    for (const [load, { queue }] of loads.entries()) {
      for (; backlog[load]! < seatCount + 2; backlog[load]! += 1) {
        const ticket = set.arrive(load, [queue], nowMs) as Ticket<number>;
        if (ticket.state === 'executing') executing.push(ticket);
      }
    }
  };
  const endMs = ({ request, startMs }: Ticket<number>) => startMs + loads[request]!.executionMs;
  fill(0);
  for (;;) {
    const first = executing.reduce((a, b) => (endMs(b) < endMs(a) ? b : a));
    const nowMs = endMs(first);
    if (nowMs > durationMs) break;
    executing = executing.filter((ticket) => ticket !== first);
    shares[first.request]! += loads[first.request]!.executionMs;
    backlog[first.request]! -= 1;
    executing.push(...set.leave(first, nowMs));
    fill(nowMs);
  }
  for (const { request, startMs } of executing) shares[request]! += durationMs - startMs;
  return shares;
}

describe('fairness', () => {
  const loads = fc
    .array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 6 })
    .map((times) => times.map((executionMs, queue): Load => ({ executionMs, queue })));

  it('gives saturated flows equal seat time whatever the duration of their requests', () => {
    fc.assert(
      fc.property(loads, fc.integer({ min: 1, max: 8 }), (all, seatCount) => {
        const shares = sharesOf(all, seatCount, 2_000);
        const longestMs = Math.max(...all.map(({ executionMs }) => executionMs));
        // The first flow may hold all seats once; after that no flow gets ahead of others.
        const aheadMs = longestMs * (seatCount + 1);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(aheadMs);
      }),
    );
  });

  it('admits a flow of single requests beside one that fills its queues', () => {
    const set = new QueueSet<string>(limits({ seatCount: 4, queueLengthMax: 50, waitMs: 1e9 }), 0);
    const executing: Ticket<string>[] = [];
    const arrive = (name: string, hand: number[], nowMs: number) => {
      const outcome = set.arrive(name, hand, nowMs);
      if (typeof outcome !== 'string' && outcome.state === 'executing') executing.push(outcome);
      return outcome;
    };
    const waitsMs: number[] = [];
    let quiet: Ticket<string> | undefined;
    // Every millisecond one of four requests ends, each of which takes four.
    for (let nowMs = 0; nowMs < 1_000; nowMs += 1) {
      while (typeof arrive('noisy', [1, 2, 3], nowMs) !== 'string');
      if (!quiet) quiet = arrive('quiet', [3, 5], nowMs) as Ticket<string>;
      const ended = executing.shift()!;
      executing.push(...set.leave(ended, nowMs));
      if (quiet.state !== 'ended') continue;
      waitsMs.push(quiet.startMs - quiet.arrivalMs);
      quiet = undefined;
    }
    expect(waitsMs.length).toBeGreaterThan(100);
    expect(Math.max(...waitsMs)).toBeLessThanOrEqual(4);
  });
});

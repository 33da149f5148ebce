import type { EventEmitter } from 'node:events';
import { systemFlowSchemas, systemPriorityLevels } from '@orch/api';
import { authenticated } from '@orch/security';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../http/request-context.js';
import type { Seat } from '../http/request-gate.js';
import { Bench, level, schema, small } from '../testing/flow-control-bench.js';
import type { FlowControlObjects } from './configuration.js';
import { dumpPriorityLevels } from './dumps.js';

const headersOf = ({ headers }: RequestContext) => [
  headers['x-orch-pf-flowschema-uid'],
  headers['x-orch-pf-prioritylevel-uid'],
];

describe('flow control', () => {
  it('admits requests with a seat, then waiting ones in order, and names their schema and level in headers', async () => {
    const bench = new Bench(2);
    const first = bench.enter('a');
    expect(headersOf(first.context)).toEqual(['uid of everybody', 'uid of small']);
    const second = bench.waits('a');
    expect(headersOf(second.context)).toEqual([undefined, undefined]);
    expect(bench.control.executingCount('readOnly')).toBe(1);
    expect(bench.control.waitingCount('readOnly')).toBe(1);
    (first.entered as Seat).release();
    const seat = await second.entered;
    expect(headersOf(second.context)).toEqual(['uid of everybody', 'uid of small']);
    expect(second.response.listenerCount('close')).toBe(0);
    seat?.release();
    expect(bench.control.executingCount('readOnly')).toBe(0);
    expect(bench.control.waitingCount('readOnly')).toBe(0);
  });

  it('rejects a request whose queues are full', () => {
    const bench = new Bench(2);
    bench.now('a');
    for (let count = 0; count < 4; count += 1) bench.waits('a');
    expect(bench.enter('a').entered).toBeUndefined();
  });

  it('rejects excess requests immediately at a level without queues', () => {
    const objects = { ...small, levels: [level('small', 5)] };
    const bench = new Bench(2, objects);
    const seat = bench.now('a');
    const refused = bench.enter('a');
    expect(refused.entered).toBeUndefined();
    expect(headersOf(refused.context)).toEqual([undefined, undefined]);
    seat.release();
    bench.now('a');
  });

  it('always admits exempt requests', () => {
    const bench = new Bench(2);
    const admin = authenticated('admin', '', ['system:masters']);
    const exempt: FlowControlObjects = {
      levels: [...small.levels, ...systemPriorityLevels()],
      schemas: [...small.schemas, ...systemFlowSchemas()],
    };
    bench.control.configure(exempt);
    for (let count = 0; count < 20; count += 1) {
      expect(bench.enter(admin, 'PUT').entered).toHaveProperty('release');
    }
    expect(bench.control.executingCount('mutating')).toBe(20);
  });

  it('rejects a request that has waited for a quarter of its time limit', async () => {
    const bench = new Bench(2);
    bench.now('a');
    const { entered } = bench.waits('a');
    await bench.clock.advance(500);
    const later = bench.waits('b');
    let decided: unknown = 'waits';
    void entered.then((seat) => {
      decided = seat;
    });
    await bench.clock.advance(499);
    expect(decided).toBe('waits');
    await bench.clock.advance(1);
    expect(decided).toBeUndefined();
    expect(bench.control.waitingCount('readOnly')).toBe(1);
    await bench.clock.advance(500);
    expect(await later.entered).toBeUndefined();
    expect(bench.control.waitingCount('readOnly')).toBe(0);
  });

  it('removes a waiting request whose client has disconnected', async () => {
    const bench = new Bench(2);
    const seat = bench.now('a');
    const gone = bench.waits('a');
    const next = bench.waits('b');
    gone.response.emit('close');
    expect(await gone.entered).toBeUndefined();
    seat.release();
    expect(await next.entered).toBeDefined();
    expect(bench.control.waitingCount('readOnly')).toBe(0);
  });

  it('limits levels to their shares, rounded up, and applies changes while requests wait', async () => {
    const bench = new Bench(4);
    const limitOf = async (name: string) =>
      (await bench.series())
        .find((line) => line.includes('concurrency_limit') && line.includes(`"${name}"`))
        ?.split(' ')[1];
    expect(await limitOf('small')).toBe('2');
    bench.now('a');
    bench.now('a');
    const waiting = [bench.waits('a'), bench.waits('a')];
    bench.control.configure({ ...small, levels: [level('small', 15, 4)] });
    expect([await limitOf('small'), await limitOf('catch-all')]).toEqual(['3', '1']);
    expect(await Promise.race(waiting.map(({ entered }) => entered))).toBeDefined();
    expect(bench.control.executingCount('readOnly')).toBe(3);
    bench.control.configure({ ...small, levels: [level('small', 45, 4)] });
    for (const { entered } of waiting) expect(await entered).toBeDefined();
    bench.control.configure({ ...small, levels: [level('small', 1, 4)] });
    expect(await limitOf('small')).toBe('1');
    expect(bench.control.executingCount('readOnly')).toBe(4);
    bench.waits('a');
  });

  it('drains a deleted level with its share and sends no further requests there', async () => {
    const bench = new Bench(4);
    const seats = [bench.now('a'), bench.now('a')];
    const waiting = [bench.waits('a'), bench.waits('b')];
    bench.control.configure({ levels: [level('other', 5)], schemas: [schema('e', 'other')] });
    expect(dumpPriorityLevels(bench.control.levels)).toMatch(/^small, +2, +false, +true, +2, +2$/m);
    expect(headersOf(bench.enter('c').context)).toEqual(['uid of e', 'uid of other']);
    for (const seat of seats) seat.release();
    for (const { entered } of waiting) {
      const seat = await entered;
      expect(seat).toBeDefined();
      seat?.release();
    }
    expect(bench.control.levels.map(({ name }) => name).sort()).toEqual([
      'catch-all',
      'exempt',
      'other',
    ]);
  });

  it('reactivates a level that is created again before it has drained', async () => {
    const bench = new Bench(2);
    const seat = bench.now('a');
    const { entered } = bench.waits('a');
    bench.control.configure({ levels: [], schemas: [] });
    bench.control.configure(small);
    const later = bench.waits('b');
    seat.release();
    const next = await Promise.race([entered, later.entered]);
    next?.release();
    for (const waiting of [entered, later.entered]) expect(await waiting).toBeDefined();
  });

  it('admits the requests of one user beside a flood of another', async () => {
    const bench = new Bench(8, {
      levels: [level('small', 5, 64, 50)],
      schemas: [schema('everybody', 'small')],
    });
    const executing: Seat[] = [];
    const flood = () => {
      for (let count = 0; count < 100; count += 1) {
        const { entered } = bench.enter('noisy');
        if (entered instanceof Promise) void entered.then((seat) => seat && executing.push(seat));
        else if (entered) executing.push(entered);
      }
    };
    let refusedCount = 0;
    for (let round = 0; round < 30; round += 1) {
      flood();
      const { entered } = bench.enter('quiet');
      let seat: Seat | undefined;
      if (entered instanceof Promise) void entered.then((granted) => (seat = granted));
      else refusedCount += 1;
      let passedMs = 0;
      for (; !seat && passedMs < 100; passedMs += 10) {
        executing.shift()!.release();
        await bench.clock.advance(10);
      }
      expect(passedMs).toBeLessThanOrEqual(20);
      seat?.release();
      await bench.clock.advance(0);
    }
    expect(refusedCount).toBe(0);
  });

  it('decides on every request within its time limit, in any order of actions', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('enter'), choice: fc.nat(4) }),
        fc.record({ kind: fc.constant('leave'), choice: fc.nat(9) }),
        fc.record({ kind: fc.constant('gone'), choice: fc.nat(9) }),
        fc.record({ kind: fc.constant('pass'), choice: fc.nat(400) }),
        fc.record({ kind: fc.constant('configure'), choice: fc.nat(2) }),
      ),
      { maxLength: 60 },
    );
    const configurations: FlowControlObjects[] = [
      small,
      { levels: [level('small', 20), level('other', 1, 3)], schemas: [schema('e', 'small')] },
      { levels: [level('other', 5, 2)], schemas: [schema('everybody', 'other')] },
    ];
    const run = async (actions: { kind: string; choice: number }[]) => {
      const bench = new Bench(6);
      const seats: Seat[] = [];
      const open = new Map<Promise<Seat | undefined>, EventEmitter>();
      for (const { kind, choice } of actions) {
        if (kind === 'enter') {
          const { entered, response } = bench.enter(`user ${choice}`);
          if (entered instanceof Promise) {
            open.set(entered, response);
            void entered.then((seat) => {
              open.delete(entered);
              if (seat) seats.push(seat);
            });
          } else if (entered) seats.push(entered);
        }
        if (kind === 'leave') seats.splice(choice % (seats.length || 1), 1)[0]?.release();
        if (kind === 'gone') [...open.values()][choice]?.emit('close');
        if (kind === 'configure') bench.control.configure(configurations[choice]!);
        await bench.clock.advance(kind === 'pass' ? choice : 0);
        const { control } = bench;
        expect(control.executingCount('readOnly')).toBe(seats.length);
        expect(control.waitingCount('readOnly')).toBe(open.size);
      }
      await bench.clock.advance(1_000);
      expect(open.size).toBe(0);
      for (const seat of seats) seat.release();
      expect(bench.control.levels.every(({ isIdle, isQuiescing }) => isIdle && !isQuiescing)).toBe(
        true,
      );
    };
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: 60 });
  });
});

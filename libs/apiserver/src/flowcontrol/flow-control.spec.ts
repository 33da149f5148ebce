import { EventEmitter } from 'node:events';
import { systemFlowSchemas, systemPriorityLevels } from '@orch/api';
import { Metrics } from '@orch/component';
import { ManualClock } from '@orch/raft';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { authenticated, type User } from '../authentication/user.js';
import { FlowControlMetrics } from '../observability/flow-control-metrics.js';
import { parseRequestInfo } from '../request/request-info.js';
import { type Exchange, newExchange } from '../response/exchange.js';
import type { Place } from '../server/request-gate.js';
import type { FlowControlObjects } from './configuration.js';
import { dumpPriorityLevels, dumpQueues, dumpRequests } from './dumps.js';
import { FlowControl } from './flow-control.js';

const users = ['system:authenticated'];

function level(name: string, shares: number, queues = 0, length = 2): PriorityLevelConfiguration {
  const queuing = { queues, handSize: Math.min(queues, 2), queueLengthLimit: length };
  const limitResponse = queues > 0 ? { type: 'Queue', queuing } : { type: 'Reject' };
  return {
    metadata: { name, uid: `uid of ${name}` },
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: shares, limitResponse } },
  };
}

function schema(name: string, levelName: string, who = users): FlowSchema {
  const all = ['*'];
  return {
    metadata: { name, uid: `uid of ${name}` },
    spec: {
      priorityLevelConfiguration: { name: levelName },
      matchingPrecedence: 100,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: who.map((one) => ({ kind: 'Group', group: { name: one } })),
          resourceRules: [
            { verbs: all, apiGroups: all, resources: all, namespaces: all, clusterScope: true },
          ],
        },
      ],
    },
  };
}

/** `catch-all` has five shares of its own. */
const small: FlowControlObjects = {
  levels: [level('small', 5, 4)],
  schemas: [schema('everybody', 'small')],
};

class Bench {
  readonly clock = new ManualClock();
  readonly metrics = new Metrics();
  readonly control: FlowControl;

  /** Of `seatCount` seats `small` gets half. */
  constructor(seatCount: number, objects = small) {
    const limits = { readOnly: seatCount - 1, mutating: 1 };
    this.control = new FlowControl({
      limits,
      requestTimeoutMs: 4_000,
      clock: this.clock,
      metrics: new FlowControlMetrics(this.metrics, limits, this.clock.monotonicMs()),
    });
    this.control.configure(objects);
  }

  enter(user: User | string, method = 'GET') {
    const response = Object.assign(new EventEmitter(), { destroyed: false });
    const exchange = newExchange({} as never, response as never);
    const asking = typeof user === 'string' ? authenticated(user, '', []) : user;
    const info = parseRequestInfo(method, '/api/v1/namespaces/n/pods/p', false);
    const arrivalMs = this.clock.monotonicMs();
    const entered = this.control.enter({ info, user: asking, exchange, arrivalMs });
    return { entered, exchange, response };
  }

  now(user: string): Place {
    const { entered } = this.enter(user);
    if (!entered || entered instanceof Promise) throw new Error('not let in at once');
    return entered;
  }

  waits(user: string) {
    const { entered, ...others } = this.enter(user);
    if (!(entered instanceof Promise)) throw new Error('does not wait');
    return { entered, ...others };
  }

  async series(): Promise<string[]> {
    const text = await this.metrics.render();
    return text.split('\n').filter((line) => line.startsWith('apiserver_flowcontrol_'));
  }
}

const headersOf = ({ headers }: Exchange) => [
  headers['x-orch-pf-flowschema-uid'],
  headers['x-orch-pf-prioritylevel-uid'],
];

describe('flow control', () => {
  it('lets in what has a seat, then in turn what waits, and says by which schema and level', async () => {
    const bench = new Bench(2);
    const first = bench.enter('a');
    expect(headersOf(first.exchange)).toEqual(['uid of everybody', 'uid of small']);
    const second = bench.waits('a');
    expect(headersOf(second.exchange)).toEqual([undefined, undefined]);
    expect(bench.control.executingCount('readOnly')).toBe(1);
    expect(bench.control.waitingCount('readOnly')).toBe(1);
    (first.entered as Place).leave();
    const place = await second.entered;
    expect(headersOf(second.exchange)).toEqual(['uid of everybody', 'uid of small']);
    expect(second.response.listenerCount('close')).toBe(0);
    place?.leave();
    expect(bench.control.executingCount('readOnly')).toBe(0);
    expect(bench.control.waitingCount('readOnly')).toBe(0);
  });

  it('turns away what finds its queues full', () => {
    const bench = new Bench(2);
    bench.now('a');
    for (let count = 0; count < 4; count += 1) bench.waits('a');
    expect(bench.enter('a').entered).toBeUndefined();
  });

  it('turns away at once where nobody is to wait', () => {
    const objects = { ...small, levels: [level('small', 5)] };
    const bench = new Bench(2, objects);
    const place = bench.now('a');
    const refused = bench.enter('a');
    expect(refused.entered).toBeUndefined();
    expect(headersOf(refused.exchange)).toEqual([undefined, undefined]);
    place.leave();
    bench.now('a');
  });

  it('never makes the exempt wait', () => {
    const bench = new Bench(2);
    const admin = authenticated('admin', '', ['system:masters']);
    const exempt: FlowControlObjects = {
      levels: [...small.levels, ...systemPriorityLevels()],
      schemas: [...small.schemas, ...systemFlowSchemas()],
    };
    bench.control.configure(exempt);
    for (let count = 0; count < 20; count += 1) {
      expect(bench.enter(admin, 'PUT').entered).toHaveProperty('leave');
    }
    expect(bench.control.executingCount('mutating')).toBe(20);
  });

  it('ends a wait after a quarter of the time of a request', async () => {
    const bench = new Bench(2);
    bench.now('a');
    const { entered } = bench.waits('a');
    await bench.clock.advance(500);
    const later = bench.waits('b');
    let decided: unknown = 'waits';
    void entered.then((place) => {
      decided = place;
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

  it('forgets who has gone', async () => {
    const bench = new Bench(2);
    const place = bench.now('a');
    const gone = bench.waits('a');
    const next = bench.waits('b');
    gone.response.emit('close');
    expect(await gone.entered).toBeUndefined();
    place.leave();
    expect(await next.entered).toBeDefined();
    expect(bench.control.waitingCount('readOnly')).toBe(0);
  });

  it('gives levels their shares, rounded up, and follows changes while requests wait', async () => {
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

  it('drains a level that is no more, with its share, and sends nobody else there', async () => {
    const bench = new Bench(4);
    const places = [bench.now('a'), bench.now('a')];
    const waiting = [bench.waits('a'), bench.waits('b')];
    bench.control.configure({ levels: [level('other', 5)], schemas: [schema('e', 'other')] });
    expect(dumpPriorityLevels(bench.control.levels)).toMatch(/^small, +2, +false, +true, +2, +2$/m);
    expect(headersOf(bench.enter('c').exchange)).toEqual(['uid of e', 'uid of other']);
    for (const place of places) place.leave();
    for (const { entered } of waiting) {
      const place = await entered;
      expect(place).toBeDefined();
      place?.leave();
    }
    expect(bench.control.levels.map(({ name }) => name).sort()).toEqual([
      'catch-all',
      'exempt',
      'other',
    ]);
  });

  it('takes a level back that comes back before it has drained', async () => {
    const bench = new Bench(2);
    const place = bench.now('a');
    const { entered } = bench.waits('a');
    bench.control.configure({ levels: [], schemas: [] });
    bench.control.configure(small);
    const later = bench.waits('b');
    place.leave();
    const next = await Promise.race([entered, later.entered]);
    next?.leave();
    for (const one of [entered, later.entered]) expect(await one).toBeDefined();
  });

  it('lets one user through beside another who asks without end', async () => {
    const bench = new Bench(8, {
      levels: [level('small', 5, 64, 50)],
      schemas: [schema('everybody', 'small')],
    });
    const executing: Place[] = [];
    const flood = () => {
      for (let count = 0; count < 100; count += 1) {
        const { entered } = bench.enter('noisy');
        if (entered instanceof Promise)
          void entered.then((place) => place && executing.push(place));
        else if (entered) executing.push(entered);
      }
    };
    let refusedCount = 0;
    for (let round = 0; round < 30; round += 1) {
      flood();
      const { entered } = bench.enter('quiet');
      let place: Place | undefined;
      if (entered instanceof Promise) void entered.then((given) => (place = given));
      else refusedCount += 1;
      let passedMs = 0;
      for (; !place && passedMs < 100; passedMs += 10) {
        executing.shift()!.leave();
        await bench.clock.advance(10);
      }
      expect(passedMs).toBeLessThanOrEqual(20);
      place?.leave();
      await bench.clock.advance(0);
    }
    expect(refusedCount).toBe(0);
  });

  it('decides on every request within its time, whatever happens', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('enter'), at: fc.nat(4) }),
        fc.record({ kind: fc.constant('leave'), at: fc.nat(9) }),
        fc.record({ kind: fc.constant('gone'), at: fc.nat(9) }),
        fc.record({ kind: fc.constant('pass'), at: fc.nat(400) }),
        fc.record({ kind: fc.constant('configure'), at: fc.nat(2) }),
      ),
      { maxLength: 60 },
    );
    const configurations: FlowControlObjects[] = [
      small,
      { levels: [level('small', 20), level('other', 1, 3)], schemas: [schema('e', 'small')] },
      { levels: [level('other', 5, 2)], schemas: [schema('everybody', 'other')] },
    ];
    const run = async (all: { kind: string; at: number }[]) => {
      const bench = new Bench(6);
      const places: Place[] = [];
      const open = new Map<Promise<Place | undefined>, EventEmitter>();
      for (const { kind, at } of all) {
        if (kind === 'enter') {
          const { entered, response } = bench.enter(`user ${at}`);
          if (entered instanceof Promise) {
            open.set(entered, response);
            void entered.then((place) => {
              open.delete(entered);
              if (place) places.push(place);
            });
          } else if (entered) places.push(entered);
        }
        if (kind === 'leave') places.splice(at % (places.length || 1), 1)[0]?.leave();
        if (kind === 'gone') [...open.values()][at]?.emit('close');
        if (kind === 'configure') bench.control.configure(configurations[at]!);
        await bench.clock.advance(kind === 'pass' ? at : 0);
        const { control } = bench;
        expect(control.executingCount('readOnly')).toBe(places.length);
        expect(control.waitingCount('readOnly')).toBe(open.size);
      }
      await bench.clock.advance(1_000);
      expect(open.size).toBe(0);
      for (const place of places) place.leave();
      expect(bench.control.levels.every(({ isIdle, isQuiescing }) => isIdle && !isQuiescing)).toBe(
        true,
      );
    };
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: 60 });
  });
});

describe('what flow control tells', () => {
  it('counts what it does', async () => {
    const bench = new Bench(2);
    const place = bench.now('a');
    const waiting = Array.from({ length: 4 }, () => bench.waits('a').entered);
    bench.enter('a');
    await bench.clock.advance(10);
    place.leave();
    (await Promise.race(waiting))?.leave();
    await bench.clock.advance(1_000);
    bench.control.refreshMetrics();
    const flow = 'priority_level="small",flow_schema="everybody"';
    const prefix = 'apiserver_flowcontrol_';
    const series = new Map(
      (await bench.series()).map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(prefix.length, at), Number(line.slice(at + 1))];
      }),
    );
    for (const [name, value] of [
      [`dispatched_requests_total{${flow}}`, 3],
      [`rejected_requests_total{${flow},reason="queue-full"}`, 1],
      [`rejected_requests_total{${flow},reason="time-out"}`, 2],
      [`current_executing_requests{${flow}}`, 1],
      [`current_inqueue_requests{${flow}}`, 0],
      [`request_wait_duration_seconds_count{${flow},execute="true"}`, 3],
      [`request_wait_duration_seconds_count{${flow},execute="false"}`, 3],
      [`request_queue_length_after_enqueue_count{${flow}}`, 5],
      [`request_execution_seconds_count{${flow}}`, 2],
      ['request_concurrency_limit{priority_level="small"}', 1],
      [
        'priority_level_request_count_samples_count{priority_level="small",phase="executing"}',
        1_010,
      ],
      [
        'priority_level_request_count_samples_bucket{le="0",priority_level="small",phase="executing"}',
        0,
      ],
      [
        'read_vs_write_request_count_watermarks_count{request_kind="readOnly",phase="waiting",mark="high"}',
        1_010,
      ],
    ] as const) {
      expect([name, series.get(name)]).toEqual([name, value]);
    }
  });

  it('shows levels, queues and requests as tables', async () => {
    const bench = new Bench(2);
    bench.now('a');
    bench.waits('b');
    await bench.clock.advance(100);
    const { levels } = bench.control;
    expect(dumpPriorityLevels(levels)).toBe(
      [
        'PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests',
        'small,             1,            false,  false,       1,               1',
        'exempt,            <none>,       <none>, <none>,      <none>,          <none>',
        'catch-all,         0,            true,   false,       0,               0',
        '',
      ].join('\n'),
    );
    const queues = dumpQueues(levels).split('\n');
    expect(queues[0]).toBe(
      'PriorityLevelName, Index,  PendingRequests, ExecutingRequests, VirtualStart',
    );
    expect(queues.filter((line) => line.startsWith('small, '))).toHaveLength(4);
    expect(queues.filter((line) => / 1, +0, +0\.0000$/.test(line))).toHaveLength(1);
    expect(queues.filter((line) => / 0, +1, +60\.0000$/.test(line))).toHaveLength(1);
    const [header, line] = dumpRequests(levels, true, bench.clock).split('\n');
    expect(header?.split(/, +/)).toEqual([
      'PriorityLevelName',
      'FlowSchemaName',
      'QueueIndex',
      'RequestIndexInQueue',
      'FlowDistingsher',
      'ArriveTime',
      'UserName',
      'Verb',
      'APIPath',
      'Namespace',
      'Name',
      'APIVersion',
      'Resource',
      'SubResource',
    ]);
    expect(line).toMatch(
      /^small, +everybody, +\d, +0, +b, +1970-01-01T00:16:40Z, +b, +get, +\/api\/v1\/namespaces\/n\/pods\/p, n, +p, +v1, +pods, +$/,
    );
    expect(dumpRequests(levels, false, bench.clock)).not.toContain('UserName');
  });
});

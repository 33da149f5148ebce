import { describe, expect, it } from 'vitest';
import { Bench } from '../testing/flow-control-bench.js';
import { dumpPriorityLevels, dumpQueues, dumpRequests } from './dumps.js';

describe('the metrics and dumps of flow control', () => {
  it('count executing, waiting and rejected requests', async () => {
    const bench = new Bench(2);
    const seat = bench.now('a');
    const waiting = Array.from({ length: 4 }, () => bench.waits('a').entered);
    bench.enter('a');
    await bench.clock.advance(10);
    seat.release();
    (await Promise.race(waiting))?.release();
    await bench.clock.advance(1_000);
    bench.control.refreshMetrics();
    const flow = 'priority_level="small",flow_schema="everybody"';
    const prefix = 'apiserver_flowcontrol_';
    const series = new Map(
      (await bench.series()).map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(prefix.length, space), Number(line.slice(space + 1))];
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

  it('print levels, queues and requests as tables', async () => {
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

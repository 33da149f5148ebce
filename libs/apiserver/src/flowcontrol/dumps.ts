/**
 * The current state of flow control as tables, to find the cause of an overload. Columns match the
 * interface; cells end in a comma and are aligned.
 */
import type { Clock } from '@orch/component';
import { dumpedQueuesMax } from '../limits.js';
import type { FlowRequest } from './flow-request.js';
import type { PriorityLevel } from './priority-level.js';
import type { Queue } from './queue-set.js';

type Row = readonly string[];

const none = '<none>';
const cellWidthMin = 8;

export function dumpPriorityLevels(levels: readonly PriorityLevel<FlowRequest>[]): string {
  const headers = [
    'PriorityLevelName',
    'ActiveQueues',
    'IsIdle',
    'IsQuiescing',
    'WaitingRequests',
    'ExecutingRequests',
  ];
  const rows = levels.map(({ name, queues, isIdle, isQuiescing }) => {
    if (!queues) return [name, ...Array<string>(5).fill(none)];
    const active = [...queues.inUse().values()].filter(({ waiting }) => waiting.length > 0);
    const { waitingCount, executingCount } = queues;
    const cells = [active.length, isIdle, isQuiescing, waitingCount, executingCount];
    return [name, ...cells.map(String)];
  });
  return textTable([headers, ...rows]);
}

export function dumpQueues(levels: readonly PriorityLevel<FlowRequest>[]): string {
  const headers = [
    'PriorityLevelName',
    'Index',
    'PendingRequests',
    'ExecutingRequests',
    'VirtualStart',
  ];
  const rows = levels.flatMap((level) => {
    if (!level.queues) return [[level.name, ...Array<string>(4).fill(none)]];
    const inUse = level.queues.inUse();
    return queueIndexes(level, inUse).map((index) => {
      const { waiting, executingCount, virtualStartMs } = inUse.get(index) ?? unused;
      const start = (virtualStartMs / 1_000).toFixed(4);
      return [level.name, `${index}`, `${waiting.length}`, `${executingCount}`, start];
    });
  });
  return textTable([headers, ...rows]);
}

const unused = { waiting: { length: 0 }, executingCount: 0, virtualStartMs: 0 };

/** All queues up to a maximum, beyond it only those in use. */
function queueIndexes(
  { queuing }: PriorityLevel<FlowRequest>,
  inUse: ReadonlyMap<number, Queue<FlowRequest>>,
): number[] {
  const first = Array.from(
    { length: Math.min(queuing.queueCount, dumpedQueuesMax) },
    (_, index) => index,
  );
  const others = [...inUse.keys()].filter((index) => index >= first.length);
  return [...first, ...others.sort((a, b) => a - b)];
}

/** Waiting requests. `withDetails`: adds their attributes. */
export function dumpRequests(
  levels: readonly PriorityLevel<FlowRequest>[],
  withDetails: boolean,
  clock: Clock,
): string {
  const headers = [
    'PriorityLevelName',
    'FlowSchemaName',
    'QueueIndex',
    'RequestIndexInQueue',
    'FlowDistingsher',
    'ArriveTime',
  ];
  const details = [
    'UserName',
    'Verb',
    'APIPath',
    'Namespace',
    'Name',
    'APIVersion',
    'Resource',
    'SubResource',
  ];
  const startedMs = clock.nowMs() - clock.monotonicMs();
  const rows = levels.flatMap((level) =>
    [...(level.queues?.inUse().values() ?? [])]
      .sort((a, b) => a.index - b.index)
      .flatMap((queue) =>
        [...queue.waiting].map(({ request, arrivalMs }, position) => [
          level.name,
          request.schema.name,
          `${queue.index}`,
          `${position}`,
          request.flow?.distinguisher ?? '',
          timeText(startedMs + arrivalMs),
          ...(withDetails ? detailsOf(request) : []),
        ]),
      ),
  );
  return textTable([withDetails ? [...headers, ...details] : headers, ...rows]);
}

function detailsOf({ request }: FlowRequest): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = request.info;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return [request.user.name, verb, path, namespace, name, apiVersion, resource, subresource];
}

/** RFC 3339 in UTC, without trailing zeros. */
function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.?0*Z$/, 'Z');
}

function textTable(rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length + 2), cellWidthMin),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const isLast = column === row.length - 1;
        return isLast ? cell : `${cell},`.padEnd(widths[column]!);
      })
      .join(''),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * When a cron job runs. Pure, except that a schedule without a time zone uses that of the process.
 * The fields come from the parser with which the API server validates, so that every valid schedule
 * has a meaning here; croner finds the next moment that matches them.
 */
import { type CronFields, parseCronSchedule } from '@orch/apimachinery';
import { Cron } from 'croner';
import { limits } from '../limits.js';

/** Times are milliseconds since the epoch. */
export interface Schedule {
  /** The first run after this time; undefined if there is none. */
  next(afterMs: number): number | undefined;
}

/** Throws CronScheduleError. */
export function compileSchedule(text: string): Schedule {
  const { timeZone, when } = parseCronSchedule(text);
  if ('everyMs' in when) {
    return { next: (afterMs) => Math.floor(afterMs / 1_000) * 1_000 + when.everyMs };
  }
  const values = listsOf(when);
  if (values.includes('')) return { next: () => undefined };
  const cron = new Cron(values.join(' '), {
    paused: true,
    // If both day fields are restricted, a day that matches either of them is a match.
    domAndDow: when.anyDayOfMonth || when.anyDayOfWeek,
    ...(timeZone !== undefined && { timezone: timeZone }),
  });
  return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() };
}

function listsOf(fields: CronFields): string[] {
  const { minutes, hours, daysOfMonth, months, daysOfWeek } = fields;
  return [minutes, hours, daysOfMonth, months, daysOfWeek].map((values) => [...values].join(','));
}

export interface MissedRuns {
  readonly latestMs: number;
  /** Exact up to the limit; estimated from the first two runs above it. */
  readonly count: number;
}

/**
 * The runs after `earliestMs` until `nowMs`; undefined if there is none. Costs the same for a
 * hundred missed runs and for millions of them.
 */
export function missedRuns(
  schedule: Schedule,
  earliestMs: number,
  nowMs: number,
): MissedRuns | undefined {
  const runs: number[] = [];
  for (let atMs = earliestMs; runs.length <= limits.missedRunCountMax; ) {
    const run = schedule.next(atMs);
    if (run === undefined || run > nowMs) {
      return runs.length === 0 ? undefined : { latestMs: atMs, count: runs.length };
    }
    runs.push(run);
    atMs = run;
  }
  const [first = 0, second = 0] = runs;
  const estimate = Math.floor((nowMs - first) / (second - first)) + 1;
  return {
    latestMs: latestRun(schedule, runs.at(-1) ?? first, nowMs),
    count: Math.max(estimate, runs.length),
  };
}

/** Bisects: `latestMs` is a run, and there is none between `endMs` and `nowMs`. */
function latestRun(schedule: Schedule, knownMs: number, nowMs: number): number {
  let latestMs = knownMs;
  let endMs = nowMs;
  while (endMs - latestMs > 1) {
    const middleMs = Math.floor((latestMs + endMs) / 2);
    const run = schedule.next(middleMs);
    if (run !== undefined && run <= nowMs) latestMs = run;
    else endMs = middleMs;
  }
  return latestMs;
}

/** The time of a run in messages: `Thu, 01 Jan 1970 00:00:00 +0000`. */
export function runTimeText(runMs: number): string {
  return new Date(runMs).toUTCString().replace('GMT', '+0000');
}

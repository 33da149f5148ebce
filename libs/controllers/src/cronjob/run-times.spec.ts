import { parseCronSchedule } from '@orch/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { compileSchedule, missedRuns } from './run-times.js';

const ms = (text: string) => Date.parse(text);
const next = (schedule: string, after: string) => {
  const run = compileSchedule(schedule).next(ms(after));
  return run === undefined ? undefined : new Date(run).toISOString();
};

/** Random schedules in UTC that validation accepts, of all forms. */
function schedules(): fc.Arbitrary<string> {
  const field = (low: number, high: number, names: readonly string[] = []) => {
    const value = fc.integer({ min: low, max: high });
    const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
    const step = fc.integer({ min: 1, max: 20 });
    const span = fc.oneof(fc.constant('*'), fc.constant('?'), range, value.map(String));
    const stepped = fc.tuple(span, step).map(([of, by]) => `${of}/${by}`);
    const named = names.length > 0 ? fc.constantFrom(...names) : value.map(String);
    const one = fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, span, stepped, named);
    return fc.array(one, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','));
  };
  return fc
    .tuple(
      ...[field(0, 59), field(0, 23), field(1, 31)],
      ...[field(1, 12, ['jan', 'FEB']), field(0, 6, ['sun', 'Sat'])],
    )
    .map((fields) => `TZ=UTC ${fields.join(' ')}`);
}

/** The definition of a match, minute by minute. */
function bruteForce(schedule: string, afterMs: number, minuteCount: number): number | undefined {
  const { when } = parseCronSchedule(schedule);
  if ('everyMs' in when) throw new Error('an interval has no fields');
  const first = Math.floor(afterMs / 60_000) + 1;
  for (let minute = first; minute < first + minuteCount; minute++) {
    const date = new Date(minute * 60_000);
    const inMonth = when.daysOfMonth.has(date.getUTCDate());
    const inWeek = when.daysOfWeek.has(date.getUTCDay());
    const isDay = when.anyDayOfMonth || when.anyDayOfWeek ? inMonth && inWeek : inMonth || inWeek;
    const isTime = when.minutes.has(date.getUTCMinutes()) && when.hours.has(date.getUTCHours());
    if (isDay && isTime && when.months.has(date.getUTCMonth() + 1)) return minute * 60_000;
  }
  return undefined;
}

describe('compileSchedule', () => {
  it('finds the next run of every schedule that validation accepts', {
    timeout: stateTimeoutMs,
  }, () => {
    const minuteCount = 3 * 1_440;
    const property = fc.property(
      schedules(),
      fc.integer({ min: ms('2020-02-27T00:00:00Z'), max: ms('2032-03-03T00:00:00Z') }),
      (schedule, afterMs) => {
        const run = compileSchedule(schedule).next(afterMs);
        const isSoon = run !== undefined && run <= afterMs + (minuteCount - 1) * 60_000;
        const expected = bruteForce(schedule, afterMs, minuteCount);
        if (isSoon || expected !== undefined) expect(run).toBe(expected);
      },
    );
    fc.assert(property, { numRuns: Math.min(stateCount, 5_000) / 4 });
  });

  it.each([
    ['TZ=UTC */15 * * * *', '2026-01-01T00:15:00Z', '2026-01-01T00:30:00.000Z'],
    ['TZ=UTC 0 0 13 * 5', '2026-11-01T00:00:00Z', '2026-11-06T00:00:00.000Z'],
    ['TZ=UTC 0 0 */1 * 5', '2026-11-07T00:00:00Z', '2026-11-13T00:00:00.000Z'],
    ['TZ=UTC 0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['TZ=Asia/Kolkata 0 9 * * *', '2026-01-01T00:00:00Z', '2026-01-01T03:30:00.000Z'],
    ['@every 90s', '2026-01-01T00:00:00.500Z', '2026-01-01T00:01:30.000Z'],
    ['TZ=America/New_York 30 1 * * *', '2026-11-01T05:30:00Z', '2026-11-02T06:30:00.000Z'],
    ['TZ=America/New_York 30 2 * * *', '2026-03-08T00:00:00Z', '2026-03-08T07:00:00.000Z'],
  ])('%s after %s runs at %s', (schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected);
  });

  it('has no run on a day that does not exist, and none without values', () => {
    expect(next('TZ=UTC 0 0 30 2 *', '2026-01-01T00:00:00Z')).toBeUndefined();
    expect(next('TZ=UTC , * * * *', '2026-01-01T00:00:00Z')).toBeUndefined();
  });
});

describe('missedRuns', () => {
  it('finds the latest run and the count', { timeout: stateTimeoutMs }, () => {
    const property = fc.property(
      schedules(),
      fc.integer({ min: ms('2024-01-01T00:00:00Z'), max: ms('2026-01-01T00:00:00Z') }),
      fc.integer({ min: 0, max: 5 * 3_600_000 }),
      (text, earliestMs, spanMs) => {
        const schedule = compileSchedule(text);
        const runs: number[] = [];
        for (let run = schedule.next(earliestMs); run !== undefined; run = schedule.next(run)) {
          if (run > earliestMs + spanMs) break;
          runs.push(run);
        }
        const missed = missedRuns(schedule, earliestMs, earliestMs + spanMs);
        expect(missed?.latestMs).toBe(runs.at(-1));
        if (runs.length <= 100) expect(missed?.count ?? 0).toBe(runs.length);
        else expect(missed?.count).toBeGreaterThan(100);
      },
    );
    fc.assert(property, { numRuns: Math.min(stateCount, 5_000) / 20 });
  });

  it('computes few runs, however many were missed', () => {
    let callCount = 0;
    const minutely = compileSchedule('* * * * *');
    const counted = {
      next: (afterMs: number) => {
        callCount += 1;
        return minutely.next(afterMs);
      },
    };
    const nowMs = ms('2026-06-01T00:00:30Z');
    const missed = missedRuns(counted, ms('1996-06-01T00:00:00Z'), nowMs);
    expect(missed?.latestMs).toBe(ms('2026-06-01T00:00:00Z'));
    expect(missed?.count).toBe((ms('2026-06-01T00:00:00Z') - ms('1996-06-01T00:00:00Z')) / 60_000);
    expect(callCount).toBeLessThan(200);
  });
});

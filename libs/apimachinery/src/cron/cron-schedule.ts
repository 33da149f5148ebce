/**
 * Parses schedules of cron jobs: five fields (minute, hour, day of the month, month, day of the
 * week) or a word such as `@daily` or `@every 1h30m`, with the prefix `TZ=Zone ` if it is not the
 * controller's time zone. Errors have the wording of the interface.
 */
import { SchemaError } from '../schema/schema-error.js';
import { parseDuration } from '../schema/time-encoding.js';
import { quote } from '../status/value-format.js';

/** The values at which each field matches. */
export interface CronFields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Sunday is 0. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** If one of the day fields is a star, a day must match both fields, otherwise either of them. */
  readonly anyDayOfMonth: boolean;
  readonly anyDayOfWeek: boolean;
}

export interface CronSchedule {
  readonly timeZone: string | undefined;
  readonly when: CronFields | { readonly everyMs: number };
}

export class CronScheduleError extends Error {
  override readonly name = 'CronScheduleError';
}

interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly names?: readonly string[];
}

const minute: Bounds = { low: 0, high: 59 };
const hour: Bounds = { low: 0, high: 23 };
const dayOfMonth: Bounds = { low: 1, high: 31 };
const month: Bounds = {
  low: 1,
  high: 12,
  names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
};
const dayOfWeek: Bounds = { low: 0, high: 6, names: 'sun mon tue wed thu fri sat'.split(' ') };

const words: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const everyWord = '@every ';
const zonePrefix = /^(?:CRON_)?TZ=(\S*)\s*/;

/** Throws CronScheduleError. */
export function parseCronSchedule(text: string): CronSchedule {
  const prefix = zonePrefix.exec(text);
  const timeZone = prefix ? checkedTimeZone(prefix[1] ?? '') : undefined;
  return { timeZone, when: parseWhen(prefix ? text.slice(prefix[0].length) : text) };
}

function checkedTimeZone(name: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CronScheduleError(`Provided bad location ${name}: unknown time zone ${name}`);
  }
}

function parseWhen(text: string): CronSchedule['when'] {
  if (text === '') throw new CronScheduleError('Empty spec string');
  if (text.startsWith(everyWord)) return { everyMs: everyMs(text) };
  if (text.startsWith('@')) {
    const fields = words[text];
    if (fields === undefined) throw new CronScheduleError(`Unrecognized descriptor: ${text}`);
    return parseFields(fields);
  }
  return parseFields(text);
}

/** Whole seconds, at least one. */
function everyMs(text: string): number {
  const duration = text.slice(everyWord.length);
  try {
    const nanos = parseDuration(duration);
    return Math.max(1_000, Number(nanos / 1_000_000_000n) * 1_000);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new CronScheduleError(
      `Failed to parse duration ${text}: time: invalid duration ${quote(duration)}`,
    );
  }
}

function parseFields(text: string): CronFields {
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) {
    throw new CronScheduleError(`Expected exactly 5 fields, found ${fields.length}: ${text}`);
  }
  const [minutes = '', hours = '', daysOfMonth = '', months = '', daysOfWeek = ''] = fields;
  return {
    minutes: valuesOf(minutes, minute),
    hours: valuesOf(hours, hour),
    daysOfMonth: valuesOf(daysOfMonth, dayOfMonth),
    months: valuesOf(months, month),
    daysOfWeek: valuesOf(daysOfWeek, dayOfWeek),
    anyDayOfMonth: hasStar(daysOfMonth),
    anyDayOfWeek: hasStar(daysOfWeek),
  };
}

function hasStar(field: string): boolean {
  return rangesOf(field).some((range) => /^[*?](\/|$)/.test(range));
}

function rangesOf(field: string): string[] {
  return field.split(',').filter((range) => range !== '');
}

function valuesOf(field: string, bounds: Bounds): ReadonlySet<number> {
  const values = new Set<number>();
  for (const range of rangesOf(field)) {
    const { from, to, step } = parseRange(range, bounds);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

/** `*`, `3` or `3-7`, optionally followed by `/2`; `3/2` extends to the maximum. */
function parseRange(
  range: string,
  bounds: Bounds,
): { readonly from: number; readonly to: number; readonly step: number } {
  const [span = '', stepText, ...moreSteps] = range.split('/');
  const [low = '', high, ...moreSpans] = span.split('-');
  let from = bounds.low;
  let to = bounds.high;
  if (low !== '*' && low !== '?') {
    from = parseValue(low, bounds);
    to = high === undefined ? from : parseValue(high, bounds);
    if (moreSpans.length > 0) throw new CronScheduleError(`Too many hyphens: ${range}`);
  }
  if (moreSteps.length > 0) throw new CronScheduleError(`Too many slashes: ${range}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && high === undefined) to = bounds.high;
  checkRange({ from, to, step }, range, bounds);
  return { from, to, step };
}

function checkRange(
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: number },
  range: string,
  { low, high }: Bounds,
): void {
  if (from < low) {
    throw new CronScheduleError(`Beginning of range (${from}) below minimum (${low}): ${range}`);
  }
  if (to > high) {
    throw new CronScheduleError(`End of range (${to}) above maximum (${high}): ${range}`);
  }
  if (from > to) {
    throw new CronScheduleError(
      `Beginning of range (${from}) beyond end of range (${to}): ${range}`,
    );
  }
  if (step === 0) {
    throw new CronScheduleError(`Step of range should be a positive number: ${range}`);
  }
}

function parseValue(text: string, { low, names }: Bounds): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index < 0 ? parseNumber(text) : low + index;
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new CronScheduleError(
      `Failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (value < 0) throw new CronScheduleError(`Negative number (${value}) not allowed: ${text}`);
  return value;
}

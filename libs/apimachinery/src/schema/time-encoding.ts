/**
 * Converts times and durations between JSON text and the wire. The first moment of year 1 is the
 * zero time of the interface and means absent.
 */
import { SchemaError } from './schema-error.js';

export interface Moment {
  /** Since 1970, UTC. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanos: number;
}

/** Seconds of 0001-01-01T00:00:00Z. */
const zeroSeconds = -62_135_596_800;
const secondsMin = -62_167_219_200;
const secondsMax = 253_402_300_799;

const canonicalTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}Z$/;
const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Parses RFC 3339; undefined if the text is not a time. Digits beyond nanoseconds are dropped. */
export function parseMoment(text: string): Moment | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number);
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second);
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 3600 + offsetMinutes * 60) * (match[8] === '-' ? -1 : 1);
  const seconds = date.getTime() / 1000 - offset;
  if (seconds < secondsMin || seconds > secondsMax) return undefined;
  return { seconds, nanos: Number((match[7] ?? '').slice(0, 9).padEnd(9, '0')) };
}

/** A time in whole seconds, UTC; undefined for the zero time. Throws SchemaError. */
export function canonicalTimeText(value: unknown): string | undefined {
  if (typeof value !== 'string') throw new SchemaError('expected a time in RFC 3339 form');
  if (canonicalTime.test(value)) return value === '0001-01-01T00:00:00Z' ? undefined : value;
  const moment = parseMoment(value);
  if (!moment) throw new SchemaError(`${JSON.stringify(value)} is not a time in RFC 3339 form`);
  return timeText(moment);
}

/**
 * A time with exactly six digits of a second, UTC; undefined for the zero time. Throws SchemaError.
 */
export function canonicalMicroTimeText(value: unknown): string | undefined {
  const moment = typeof value === 'string' ? parseMoment(value) : undefined;
  if (!moment || !/\.\d{6}(?:Z|[+-])/.test(String(value))) {
    throw new SchemaError('expected a time in RFC 3339 form with six digits of a second');
  }
  return microTimeText(moment);
}

/** The latest whole second shown: a new object often has the same time several times. */
let latest = { seconds: 0, text: '1970-01-01T00:00:00Z' };

/** Throws SchemaError for a moment outside the years 0 to 9999. */
export function timeText({ seconds, nanos }: Moment): string | undefined {
  if (seconds === zeroSeconds && nanos === 0) return undefined;
  if (!(seconds >= secondsMin && seconds <= secondsMax)) {
    throw new SchemaError('year outside of 0 to 9999');
  }
  if (seconds !== latest.seconds) {
    latest = { seconds, text: `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z` };
  }
  return latest.text;
}

export function microTimeText(moment: Moment): string | undefined {
  const whole = timeText(moment);
  if (whole === undefined) return undefined;
  const micros = Math.trunc(moment.nanos / 1000);
  return `${whole.slice(0, 19)}.${String(micros).padStart(6, '0')}Z`;
}

const durationPart = /(\d+)(?:\.(\d*))?(h|ms|us|µs|ns|m|s)/y;
const unitNanos: Record<string, bigint> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};

/** Parses a text such as `1h2m3.5s` to nanoseconds. Throws SchemaError. */
export function parseDuration(value: unknown): bigint {
  if (typeof value !== 'string') throw new SchemaError('expected a duration such as 1h2m3s');
  const sign = value.startsWith('-') ? -1n : 1n;
  const text = value.replace(/^[+-]/, '');
  if (text === '0') return 0n;
  let nanos = 0n;
  durationPart.lastIndex = 0;
  while (durationPart.lastIndex < text.length || text === '') {
    const match = durationPart.exec(text);
    if (!match) throw new SchemaError(`${JSON.stringify(value)} is not a duration such as 1h2m3s`);
    const unit = unitNanos[match[3]!]!;
    const fraction = (match[2] ?? '').slice(0, 18);
    nanos += BigInt(match[1]!) * unit;
    nanos += (BigInt(fraction || 0) * unit) / 10n ** BigInt(fraction.length);
    if (nanos > 2n ** 63n - 1n) throw new SchemaError('duration out of range');
  }
  return sign * nanos;
}

/** `1h2m3.5s`: hours, minutes and seconds, or one smaller unit below a second. */
export function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const amount = nanos < 0n ? -nanos : nanos;
  if (amount < 1_000n) return `${sign}${amount}ns`;
  if (amount < 1_000_000n) return `${sign}${decimal(amount, 1_000n)}µs`;
  if (amount < 1_000_000_000n) return `${sign}${decimal(amount, 1_000_000n)}ms`;
  const hours = amount / unitNanos.h!;
  const minutes = (amount / unitNanos.m!) % 60n;
  const seconds = decimal(amount % unitNanos.m!, unitNanos.s!);
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

function decimal(amount: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(amount % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${amount / unit}${fraction === '' ? '' : `.${fraction}`}`;
}

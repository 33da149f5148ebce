/**
 * Parsers and formatters of flag values: durations, byte sizes, addresses, lists and maps. Parsers
 * throw a `ValueError` whose message contains the expected form; the caller adds the name of the
 * flag. Durations are written as in upstream flags: `1h30m`, `1m0s`, `250ms`.
 */
import { isIP } from 'node:net';
import { flagListEntryCountMax } from '../limits.js';

export class ValueError extends Error {
  override readonly name = 'ValueError';
}

const durationUnitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Returns the milliseconds of `1m30s`, `100ms`, `-5s` or `0`. */
export function parseDuration(text: string): number {
  const expected = `want a duration such as 30s, 1m30s or 250ms, got ${quote(text)}`;
  if (text === '0') return 0;
  const negative = text.startsWith('-');
  const rest = text.replace(/^[+-]/, '');
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy;
  let totalMs = 0;
  let end = 0;
  for (let match = part.exec(rest); match !== null; match = part.exec(rest)) {
    totalMs += Number(match[1]) * (durationUnitsMs[match[2]!] ?? 0);
    end = part.lastIndex;
  }
  if (end === 0 || end !== rest.length) throw new ValueError(expected);
  return negative ? -totalMs : totalMs;
}

/** Formats a duration: `1m30s`, `2m0s`, `100ms`, `0s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0s';
  const sign = durationMs < 0 ? '-' : '';
  const absoluteMs = Math.abs(durationMs);
  if (absoluteMs < 1_000) return `${sign}${Number(absoluteMs.toPrecision(9))}ms`;
  const hours = Math.floor(absoluteMs / 3_600_000);
  const minutes = Math.floor((absoluteMs % 3_600_000) / 60_000);
  const seconds = Number(((absoluteMs % 60_000) / 1_000).toFixed(9));
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Returns the bytes of `10Mi`, `1G`, `4096`. */
export function parseByteSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|[kKMGT])?B?$/.exec(text);
  if (!match) throw new ValueError(`want a size such as 10Mi, 1G or 4096, got ${quote(text)}`);
  const bytes = Number(match[1]) * (byteUnits[match[2] ?? ''] ?? 1);
  if (!Number.isSafeInteger(bytes)) {
    throw new ValueError(`want a whole number of bytes, got ${quote(text)}`);
  }
  return bytes;
}

/** Formats a size exactly, in the largest binary unit that divides it: `10Mi`. */
export function formatByteSize(bytes: number): string {
  for (const unit of ['Ti', 'Gi', 'Mi', 'Ki']) {
    const size = byteUnits[unit] ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Parses `127.0.0.1:80`, `[::1]:80`, `name:80`, `:80` (an empty host is every address). */
export function parseHostPort(text: string): HostPort {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535 || (match[1] !== undefined && isIP(match[1]) !== 6)) {
    throw new ValueError(`want host:port such as 127.0.0.1:6443 or [::1]:6443, got ${quote(text)}`);
  }
  return { host: match[1] ?? match[2] ?? '', port };
}

export function formatHostPort(value: HostPort): string {
  return value.host.includes(':') ? `[${value.host}]:${value.port}` : `${value.host}:${value.port}`;
}

/** Returns the entries of `a,b,c`; none for the empty text. */
export function parseList(text: string): string[] {
  if (text === '') return [];
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.length > flagListEntryCountMax) {
    throw new ValueError(`want at most ${flagListEntryCountMax} entries, got ${entries.length}`);
  }
  return entries;
}

/**
 * Returns the pairs of `a=1,b=2`. A value may contain `=`; the last value of a repeated key counts.
 */
export function parseKeyValues(text: string): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  for (const entry of parseList(text)) {
    const separator = entry.indexOf('=');
    if (separator <= 0) {
      throw new ValueError(`want key=value pairs such as a=1,b=2, got ${quote(entry)}`);
    }
    result[entry.slice(0, separator).trim()] = entry.slice(separator + 1).trim();
  }
  return result;
}

export function parseBoolean(text: string): boolean {
  if (/^(?:true|t|1)$/i.test(text)) return true;
  if (/^(?:false|f|0)$/i.test(text)) return false;
  throw new ValueError(`want true or false, got ${quote(text)}`);
}

export function parseNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new ValueError(`want a number, got ${quote(text)}`);
  return value;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}

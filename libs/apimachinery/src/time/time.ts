/** Times in the formats of the interface: UTC, whole seconds, or microseconds for MicroTime. */

/** Most formatted times are in the same second as the previous one. */
let latest = { second: Number.NaN, text: '' };

/** `2026-11-21T07:30:00Z`. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== latest.second) {
    latest = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` };
  }
  return latest.text;
}

/** `2026-11-21T07:30:00.123456Z`; digits below a millisecond are zero. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch; undefined if the text is not an RFC 3339 time. */
export function parseTime(text: string | undefined): number | undefined {
  if (text === undefined || !rfc3339.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Ages in tables: the two largest significant units, such as `5m20s`, `3h`, `2d4h`, `1y30d`. */
export function formatAge(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  if (days < 2920) return pair(years, 'y', days % 365, 'd');
  return `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** The age of a time; `<unknown>` if absent. */
export function ageCell(time: string | undefined, nowMs: number): string {
  const ms = parseTime(time);
  return ms === undefined ? '<unknown>' : formatAge(nowMs - ms);
}

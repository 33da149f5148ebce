/** Latencies of requests by verb and scope, from the histograms of an API server. */

const name = 'apiserver_request_duration_seconds_bucket';
const streams = new Set(['WATCH', 'CONNECT', 'WATCHLIST']);

/**
 * Returns the counts by verb and scope, each a map from the upper bound to the count. Requests
 * without a scope, such as those of metrics and health, are omitted.
 */
export function readBuckets(text) {
  const buckets = new Map();
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`)) continue;
    const [, labels, value] = /\{(.*)\} (\S+)/.exec(line);
    const label = Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, found]) => [key, found]),
    );
    if (streams.has(label.verb) || !label.scope) continue;
    const key = `${label.verb} ${label.scope}`;
    const counts = buckets.get(key) ?? new Map();
    const bound = Number(label.le === '+Inf' ? Infinity : label.le);
    counts.set(bound, (counts.get(bound) ?? 0) + Number(value));
    buckets.set(key, counts);
  }
  return buckets;
}

/**
 * Returns a row for each verb and scope of the requests between two readings, with the bound of the
 * bucket of the 99th percentile.
 */
export function latencies(before, after) {
  const rows = [];
  for (const [key, counts] of after) {
    const [verb, scope] = key.split(' ');
    const bounds = [...counts.keys()].sort((left, right) => left - right);
    const counted = bounds.map((bound) => counts.get(bound) - (before.get(key)?.get(bound) ?? 0));
    const count = counted.at(-1);
    if (count === 0) continue;
    const p99Seconds = bounds[counted.findIndex((value) => value >= count * 0.99)];
    const limitSeconds = verb === 'LIST' && scope === 'cluster' ? 30 : verb === 'LIST' ? 5 : 1;
    rows.push({ verb, scope, count, p99Seconds, limitSeconds });
  }
  return rows.sort((left, right) => right.count - left.count);
}

/** Metrics of authentication: the methods, their durations and their results. */
import { type CounterSeries, dialect, exponentialBuckets, type Metrics } from '@orch/component';
import type { CertificateObserver } from './client-certificates.js';
import type { AuthenticationObserver, AuthenticationResult } from './measured-authenticator.js';
import type { TokenCacheObserver } from './service-account-authenticator.js';
import type { User } from './user.js';

const hour = 3_600;
const day = 24 * hour;
const expirationBuckets = [
  0,
  hour / 2,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  4 * day,
  7 * day,
  30 * day,
  90 * day,
  180 * day,
  360 * day,
];

/** Users who have a series of their own; others share one. */
function namedUsers(): ReadonlySet<string> {
  const { systemNamespace } = dialect();
  return new Set([
    'admin',
    'client',
    'kubelet',
    underscored(dialect().systemName('proxy')),
    `system:serviceaccount:${systemNamespace}:default`,
  ]);
}

function underscored(name: string): string {
  return name.replaceAll('-', '_');
}

export class AuthenticationMetrics implements AuthenticationObserver, CertificateObserver {
  readonly tokenCache: TokenCacheObserver;
  private readonly byResult;
  private readonly byUser;
  private readonly expirations;

  constructor(metrics: Metrics) {
    const attempts = metrics.counter({
      name: 'authentication_attempts',
      help: 'Requests whose user was to be found out, by result.',
      labels: ['result'],
    });
    const durations = metrics.histogram({
      name: 'authentication_duration_seconds',
      help: 'Duration of authentication, in seconds, by result.',
      labels: ['result'],
      buckets: exponentialBuckets(0.001, 2, 15),
    });
    const seriesOf = (result: AuthenticationResult) => ({
      attempts: attempts.labels({ result }),
      durations: durations.labels({ result }),
    });
    this.byResult = {
      success: seriesOf('success'),
      failure: seriesOf('failure'),
      error: seriesOf('error'),
    };
    this.byUser = userCounts(metrics);
    this.expirations = metrics
      .histogram({
        name: 'apiserver_client_certificate_expiration_seconds',
        help: 'Remaining lifetime of the client certificates of requests, in seconds.',
        buckets: expirationBuckets,
      })
      .labels({});
    this.tokenCache = tokenCacheObserver(metrics);
  }

  ended(result: AuthenticationResult, seconds: number): void {
    const { attempts, durations } = this.byResult[result];
    attempts.inc();
    durations.observe(seconds);
  }

  authenticated({ name }: User): void {
    this.byUser(name).inc();
  }

  certificateUsed(secondsLeft: number): void {
    this.expirations.observe(secondsLeft);
  }
}

function userCounts(metrics: Metrics) {
  const counter = metrics.counter({
    name: 'authenticated_user_requests',
    help: 'Requests of authenticated users, by well-known name; mail addresses and all others count together.',
    labels: ['username'],
  });
  // A series appears with its first request.
  const series = new Map<string, CounterSeries>();
  const seriesOf = (username: string) => {
    const existing = series.get(username);
    if (existing) return existing;
    const created = counter.labels({ username });
    series.set(username, created);
    return created;
  };
  const named = namedUsers();
  return (name: string) => {
    if (named.has(name)) return seriesOf(name);
    return seriesOf(name.includes('@') ? 'email_id' : 'other');
  };
}

function tokenCacheObserver(metrics: Metrics): TokenCacheObserver {
  const name = (part: string) => `authentication_token_cache_${part}`;
  const labels = ['status'] as const;
  const lookups = metrics.counter({
    name: name('request_total'),
    help: 'Lookups in the cache of verified tokens, by hit or miss.',
    labels,
  });
  const durations = metrics.histogram({
    name: name('request_duration_seconds'),
    help: 'Time to verify a token, in seconds, by whether it had been verified before.',
    labels,
  });
  const fetches = metrics.counter({
    name: name('fetch_total'),
    help: 'Verifications of tokens not seen before, by whether they could be done.',
    labels,
  });
  const active = metrics.gauge({
    name: name('active_fetch_count'),
    help: 'Token verifications in flight.',
    labels,
  });
  const accountTokens = accountTokenCounts(metrics);
  const seriesOf = (status: string) => ({
    lookups: lookups.labels({ status }),
    durations: durations.labels({ status }),
  });
  const byStatus = { hit: seriesOf('hit'), miss: seriesOf('miss') };
  return {
    lookedUp(status, seconds) {
      byStatus[status].lookups.inc();
      byStatus[status].durations.observe(seconds);
    },
    fetchBegan: () => active.inc({ status: 'in_flight' }),
    fetchEnded(status) {
      active.dec({ status: 'in_flight' });
      fetches.inc({ status });
    },
    ...accountTokens,
  };
}

function accountTokenCounts(metrics: Metrics) {
  const counted = (name: string, help: string) => {
    const series = metrics
      .counter({ name: `serviceaccount_${name}_tokens_total`, help })
      .labels({});
    return () => series.inc();
  };
  return {
    valid: counted('valid', 'Requests with a valid token of a service account.'),
    legacy: counted('legacy', 'Requests with a valid service account token without expiry.'),
    stale: counted(
      'stale',
      'Requests with a service account token of extended lifetime that should have been replaced.',
    ),
  };
}

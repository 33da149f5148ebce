/** Metrics of the requests of a client, with the upstream names. */
import { exponentialBuckets, type Metrics } from '@orch/component';

const buckets = exponentialBuckets(0.001, 2, 10);
/** The status code of an attempt without a response. */
const noResponse = '<error>';

export class ClientMetrics {
  private readonly requests;
  private readonly durations;
  private readonly waits;

  constructor(metrics: Metrics) {
    this.requests = metrics.counter({
      name: 'rest_client_requests_total',
      help: 'Number of HTTP requests, partitioned by status code, method, and host.',
      labels: ['code', 'host', 'method'],
    });
    this.durations = metrics.histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Request latency in seconds. Broken down by verb and URL.',
      labels: ['url', 'verb'],
      buckets,
    });
    this.waits = metrics.histogram({
      name: 'rest_client_rate_limiter_duration_seconds',
      help: 'Client side rate limiter latency in seconds. Broken down by verb and URL.',
      labels: ['url', 'verb'],
      buckets,
    });
  }

  /** Counts one attempt; without a response, the status code is undefined. */
  completed(method: string, { host }: URL, statusCode: number | undefined): void {
    const code = statusCode === undefined ? noResponse : String(statusCode);
    this.requests.inc({ code, host, method });
  }

  /** Observes the duration of a request, including all attempts. */
  took(verb: string, server: URL, path: string, seconds: number): void {
    this.durations.observe({ verb, url: urlLabel(server, path) }, seconds);
  }

  /** Observes the wait of a request for the rate limit. */
  waited(verb: string, server: URL, path: string, seconds: number): void {
    this.waits.observe({ verb, url: urlLabel(server, path) }, seconds);
  }
}

const namespacePart = '%7Bnamespace%7D';
const namePart = '%7Bname%7D';

/** The URL with names replaced by placeholders, so that the number of labels is bounded. */
export function urlLabel({ origin }: URL, path: string): string {
  const segments = path.split('/');
  const groupEnd = segments[1] === 'api' ? 3 : segments[1] === 'apis' ? 4 : segments.length;
  if (segments.length <= groupEnd) return `${origin}/%7Bprefix%7D`;
  let resourceAt = groupEnd;
  if (segments[groupEnd] === 'namespaces' && segments.length > groupEnd + 2) {
    segments[groupEnd + 1] = namespacePart;
    resourceAt += 2;
  }
  if (segments.length > resourceAt + 1) segments[resourceAt + 1] = namePart;
  // The path below a subresource belongs to its target.
  return origin + segments.slice(0, resourceAt + 3).join('/');
}

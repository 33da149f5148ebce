/** Metrics of a client's requests, under the names that dashboards know. */
import { exponentialBuckets, type Metrics } from '@orch/component';

const buckets = exponentialBuckets(0.001, 2, 10);
/** What stands for the status code where there was no answer. */
const noAnswer = '<error>';

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

  /** One attempt was answered, or came to nothing. */
  answered(method: string, { host }: URL, statusCode: number | undefined): void {
    const code = statusCode === undefined ? noAnswer : String(statusCode);
    this.requests.inc({ code, host, method });
  }

  /** A request had its answer in full, or failed, all attempts together. */
  took(verb: string, server: URL, path: string, seconds: number): void {
    this.durations.observe({ verb, url: urlLabel(server, path) }, seconds);
  }

  /** A request waited for the rate limit. */
  waited(verb: string, server: URL, path: string, seconds: number): void {
    this.waits.observe({ verb, url: urlLabel(server, path) }, seconds);
  }
}

const namespacePart = '%7Bnamespace%7D';
const namePart = '%7Bname%7D';

/** Names are replaced by what they are, so that there are as many labels as resources. */
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
  // What is below a subresource is the target's.
  return origin + segments.slice(0, resourceAt + 3).join('/');
}

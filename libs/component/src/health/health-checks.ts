/**
 * Named health checks and the responses of `/healthz`, `/livez` and `/readyz`. Checks are reported
 * in the order in which they were added. Every check has a deadline, and the reason of a failure
 * appears only on the path of the check itself. The server authorizes requests.
 */
import { type Clock, systemClock } from '../clock.js';
import { errorMessage } from '../errors/thrown.js';
import { withDeadline } from '../lifecycle/deadline.js';
import { healthCheckCountMax, healthCheckTimeoutMs } from '../limits.js';
import { standardError } from '../logging/log-output.js';

export const healthEndpoints = ['healthz', 'livez', 'readyz'] as const;
export type HealthEndpoint = (typeof healthEndpoints)[number];

export interface HealthCheck {
  readonly name: string;
  /** Further names that a path and `exclude` accept; responses contain `name` only. */
  readonly aliases?: readonly string[];
  /** Throws or rejects with the reason when unhealthy. */
  run(): void | Promise<void>;
}

export interface HealthResponse {
  readonly statusCode: number;
  readonly contentType: string;
  readonly body: string;
}

export interface HealthQuery {
  /** Whether the parameter is present, with any value. */
  readonly verbose: boolean;
  readonly exclude: readonly string[];
}

const plainText = 'text/plain; charset=utf-8';

export class HealthChecks {
  private readonly checks: Record<HealthEndpoint, HealthCheck[]> = {
    healthz: [],
    livez: [],
    readyz: [],
  };

  constructor(private readonly clock: Clock = systemClock) {}

  /** Adds a check to `endpoints`, by default to all. */
  add(check: HealthCheck, endpoints: readonly HealthEndpoint[] = healthEndpoints): void {
    for (const endpoint of endpoints) {
      const checks = this.checks[endpoint];
      if (checks.length >= healthCheckCountMax) {
        throw new Error(`more than ${healthCheckCountMax} health checks on ${endpoint}`);
      }
      if (checks.some((existing) => namesOf(check).some((name) => hasName(existing, name)))) {
        throw new Error(`health check ${check.name} was added twice to ${endpoint}`);
      }
      checks.push(check);
    }
  }

  names(endpoint: HealthEndpoint): readonly string[] {
    return this.checks[endpoint].map((check) => check.name);
  }

  /** Runs all checks of the endpoint and returns its response. */
  async report(endpoint: HealthEndpoint, query: HealthQuery): Promise<HealthResponse> {
    const unmatched = new Set(query.exclude);
    const lines = await Promise.all(
      this.checks[endpoint].map(async (check) => {
        const excluding = query.exclude.filter((name) => hasName(check, name));
        for (const name of excluding) unmatched.delete(name);
        if (excluding.length > 0) return { ok: true, text: `[+]${check.name} excluded: ok\n` };
        return (await this.failure(check)) === undefined
          ? { ok: true, text: `[+]${check.name} ok\n` }
          : { ok: false, text: `[-]${check.name} failed: reason withheld\n` };
      }),
    );
    let text = lines.map((line) => line.text).join('');
    if (unmatched.size > 0) {
      const names = [...unmatched].map((name) => JSON.stringify(name)).join(',');
      text += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
    }
    if (lines.some((line) => !line.ok)) {
      return { statusCode: 500, contentType: plainText, body: `${text}${endpoint} check failed\n` };
    }
    const body = query.verbose ? `${text}${endpoint} check passed\n` : 'ok';
    return { statusCode: 200, contentType: plainText, body };
  }

  /** Runs one check and returns its response; undefined if there is no such check. */
  async reportOne(endpoint: HealthEndpoint, name: string): Promise<HealthResponse | undefined> {
    const check = this.checks[endpoint].find((candidate) => hasName(candidate, name));
    if (!check) return undefined;
    const reason = await this.failure(check);
    if (reason === undefined) return { statusCode: 200, contentType: plainText, body: 'ok' };
    return {
      statusCode: 500,
      contentType: plainText,
      body: `internal server error: ${reason}\n`,
    };
  }

  private async failure(check: HealthCheck): Promise<string | undefined> {
    try {
      const work = Promise.resolve().then(() => check.run());
      await withDeadline(work, healthCheckTimeoutMs, `health check ${check.name}`, this.clock);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }
}

function namesOf({ name, aliases = [] }: HealthCheck): readonly string[] {
  return [name, ...aliases];
}

function hasName(check: HealthCheck, name: string): boolean {
  return namesOf(check).includes(name);
}

/** The first check of every server: succeeds whenever the server responds. */
export const pingCheck: HealthCheck = { name: 'ping', run: () => undefined };

/** Fails while the log of the process cannot be written. */
export const logCheck: HealthCheck = { name: 'log', run: () => standardError.check() };

/** Parses the query parameters of a health request. */
export function healthQuery(parameters: URLSearchParams): HealthQuery {
  return { verbose: parameters.has('verbose'), exclude: parameters.getAll('exclude') };
}

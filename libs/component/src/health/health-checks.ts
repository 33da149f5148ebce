/**
 * Named health checks and the text of `/healthz`, `/livez` and `/readyz`. Checks are reported in the
 * order in which they were added; machines read only the status. Every check has a deadline, and a
 * failed one shows its reason on its own path only. Who may ask is left to the server.
 */
import { type Clock, systemClock } from '../clock.js';
import { withDeadline } from '../lifecycle/deadline.js';
import { healthCheckCountMax, healthCheckTimeoutMs } from '../limits.js';

export const healthEndpoints = ['healthz', 'livez', 'readyz'] as const;
export type HealthEndpoint = (typeof healthEndpoints)[number];

export interface HealthCheck {
  readonly name: string;
  /** Throws, or rejects, with the reason when not healthy. */
  run(): void | Promise<void>;
}

export interface HealthAnswer {
  readonly statusCode: number;
  readonly contentType: string;
  readonly body: string;
}

export interface HealthQuery {
  /** Given at all, with whatever value. */
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

  /** Adds a check to some endpoints, all of them when left out. */
  add(check: HealthCheck, endpoints: readonly HealthEndpoint[] = healthEndpoints): void {
    for (const endpoint of endpoints) {
      const checks = this.checks[endpoint];
      if (checks.length >= healthCheckCountMax) throw new Error('too many health checks');
      if (checks.some((known) => known.name === check.name)) {
        throw new Error(`health check ${check.name} was added twice to ${endpoint}`);
      }
      checks.push(check);
    }
  }

  names(endpoint: HealthEndpoint): readonly string[] {
    return this.checks[endpoint].map((check) => check.name);
  }

  /** The answer of the endpoint as a whole. */
  async report(endpoint: HealthEndpoint, query: HealthQuery): Promise<HealthAnswer> {
    const excluded = new Set(query.exclude);
    const unmatched = new Set(query.exclude);
    const lines = await Promise.all(
      this.checks[endpoint].map(async (check) => {
        unmatched.delete(check.name);
        if (excluded.has(check.name)) return { ok: true, text: `[+]${check.name} excluded: ok\n` };
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

  /** The answer of one check, undefined when there is no such check. */
  async reportOne(endpoint: HealthEndpoint, name: string): Promise<HealthAnswer | undefined> {
    const check = this.checks[endpoint].find((candidate) => candidate.name === name);
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
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** The check every server starts with: it answers, so it lives. */
export const pingCheck: HealthCheck = { name: 'ping', run: () => undefined };

/** The query of a health request, from its decoded parameters. */
export function healthQuery(parameters: URLSearchParams): HealthQuery {
  return { verbose: parameters.has('verbose'), exclude: parameters.getAll('exclude') };
}

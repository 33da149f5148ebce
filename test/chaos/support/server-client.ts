/** Plain requests to API servers, one attempt each, without interpretation of the outcome. */
import { Agent, request } from 'undici';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter: string | undefined;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly timeoutMs?: number;
}

/** No complete response: the connection failed or the request timed out. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';

  /** No server listened: the request certainly had no effect. */
  get neverSent(): boolean {
    return (this.cause as { code?: unknown } | undefined)?.code === 'ECONNREFUSED';
  }
}

const defaultTimeoutMs = 10_000;
const connectTimeoutMs = 3_000;
export const adminToken = 'chaos-admin';

export class ServerClient {
  private readonly agent: Agent;

  /** `connections`: maximum per server. */
  constructor(authorityPem: string, connections = 2) {
    this.agent = new Agent({
      connect: { ca: authorityPem, timeout: connectTimeoutMs },
      connections,
      pipelining: 1,
    });
  }

  /** Throws NoResponse. */
  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    { body, contentType = 'application/json', timeoutMs = defaultTimeoutMs }: RequestOptions = {},
  ): Promise<Answer> {
    try {
      const answer = await request(url, {
        method,
        dispatcher: this.agent,
        headers: {
          authorization: `Bearer ${adminToken}`,
          ...(body !== undefined && { 'content-type': contentType }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await answer.body.text();
      const retryAfter = answer.headers['retry-after'];
      return {
        status: answer.statusCode,
        body: parsed(text),
        retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      };
    } catch (error) {
      throw new NoResponse(`${method} ${url}: ${String(error)}`, { cause: error });
    }
  }

  /** Aborts requests in flight as well. */
  close(): Promise<void> {
    return this.agent.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Health checks and metrics return plain text.
    return text;
  }
}

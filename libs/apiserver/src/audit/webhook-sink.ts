/** The webhook backend: posts lists of events to the server of a kubeconfig. */
import { type ConnectionConfig, type Dial, retry } from '@orch/component';
import {
  authorizationOf,
  type ConnectionPool,
  connectionPoolOf,
  isSuccess,
  post,
} from '@orch/security';
import {
  auditWebhookAttemptsMax,
  auditWebhookPauseMaxMs,
  auditWebhookResponseBytesMax,
  auditWebhookTimeoutMs,
} from '../limits.js';
import type { AuditSink } from './audit-backend.js';
import { type AuditEvent, jsonListOf } from './event.js';

export interface WebhookSinkOptions {
  readonly connection: ConnectionConfig;
  /** Pause before the second attempt; each further pause is 1.5 times as long. */
  readonly initialBackoffMs: number;
  readonly random: () => number;
  /** Absent: connections are direct. */
  readonly dial?: Dial | undefined;
}

/** The server responded with an error status. */
class WebhookStatusError extends Error {
  override readonly name = 'WebhookStatusError';
  constructor(readonly statusCode: number) {
    super(`the audit webhook responded with status ${statusCode}`);
  }
}

export class WebhookSink implements AuditSink {
  readonly name = 'webhook';
  private readonly pool: ConnectionPool;
  private readonly url: URL;
  private readonly closing = new AbortController();

  /** Throws KubeconfigError for credentials that require a plug-in. */
  constructor(private readonly options: WebhookSinkOptions) {
    this.pool = connectionPoolOf(options.connection, 'audit webhook', options.dial);
    this.url = new URL(options.connection.server);
    this.url.searchParams.set('timeout', `${auditWebhookTimeoutMs / 1_000}s`);
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    const body = jsonListOf(events);
    const { initialBackoffMs, random } = this.options;
    await retry(() => this.post(body), {
      initialMs: initialBackoffMs,
      maxMs: auditWebhookPauseMaxMs,
      factor: 1.5,
      jitter: 0.2,
      random,
      attemptCountMax: auditWebhookAttemptsMax,
      signal: this.closing.signal,
      isRetryable: (error) =>
        !(error instanceof WebhookStatusError) ||
        error.statusCode === 429 ||
        error.statusCode >= 500,
    });
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the server is stopping'));
    this.pool.close();
  }

  private async post(body: string): Promise<void> {
    const { connection } = this.options;
    const authorization = await authorizationOf(connection);
    const response = await post({
      url: this.url,
      pool: this.pool,
      headers: { ...(authorization !== undefined && { authorization }) },
      body,
      signal: AbortSignal.any([this.closing.signal, AbortSignal.timeout(auditWebhookTimeoutMs)]),
      responseBytesMax: auditWebhookResponseBytesMax,
    });
    if (!isSuccess(response)) throw new WebhookStatusError(response.statusCode);
  }
}

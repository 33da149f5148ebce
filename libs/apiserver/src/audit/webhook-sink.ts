/** The webhook backend: lists of events are posted to a server that a kubeconfig names. */
import { readFile } from 'node:fs/promises';
import { type ConnectionConfig, KubeconfigError, retry } from '@orch/component';
import { Agent, request } from 'undici';
import {
  auditWebhookAttemptsMax,
  auditWebhookPauseMaxMs,
  auditWebhookTimeoutMs,
} from '../limits.js';
import type { AuditSink } from './audit-backend.js';
import { type AuditEvent, jsonListOf } from './event.js';

export interface WebhookSettings {
  readonly connection: ConnectionConfig;
  /** Pause before the second attempt; each further one is half as long again. */
  readonly initialBackoffMs: number;
  readonly random: () => number;
}

/** The server answered, but not with success. */
class WebhookRefusal extends Error {
  override readonly name = 'WebhookRefusal';
  constructor(readonly statusCode: number) {
    super(`the audit webhook answered ${statusCode}`);
  }
}

export class WebhookSink implements AuditSink {
  readonly name = 'webhook';
  private readonly agent: Agent;
  private readonly closing = new AbortController();

  /** Throws KubeconfigError for credentials that only a plug-in could get. */
  constructor(private readonly settings: WebhookSettings) {
    const { connection } = settings;
    if (connection.exec) {
      throw new KubeconfigError('credential plug-ins are not run for the audit webhook');
    }
    this.agent = new Agent({ connect: tlsOf(connection) });
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    const body = jsonListOf(events);
    const { initialBackoffMs, random } = this.settings;
    await retry(() => this.post(body), {
      initialMs: initialBackoffMs,
      maxMs: auditWebhookPauseMaxMs,
      factor: 1.5,
      jitter: 0.2,
      random,
      attemptCountMax: auditWebhookAttemptsMax,
      signal: this.closing.signal,
      isRetryable: (error) =>
        !(error instanceof WebhookRefusal) || error.statusCode === 429 || error.statusCode >= 500,
    });
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the server is ending'));
    await this.agent.destroy();
  }

  private async post(body: string): Promise<void> {
    const { connection } = this.settings;
    const authorization = await authorizationOf(connection);
    const answer = await request(connection.server, {
      method: 'POST',
      dispatcher: this.agent,
      headers: {
        'content-type': 'application/json',
        ...(authorization !== undefined && { authorization }),
      },
      body,
      headersTimeout: auditWebhookTimeoutMs,
      bodyTimeout: auditWebhookTimeoutMs,
    });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new WebhookRefusal(answer.statusCode);
  }
}

function tlsOf(connection: ConnectionConfig): Agent.Options['connect'] {
  const { certificateAuthorityPem, clientCertificatePem, clientKeyPem, tlsServerName } = connection;
  return {
    timeout: auditWebhookTimeoutMs,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
    ...(certificateAuthorityPem && { ca: certificateAuthorityPem }),
    ...(clientCertificatePem && { cert: clientCertificatePem }),
    ...(clientKeyPem && { key: clientKeyPem }),
    ...(tlsServerName && { servername: tlsServerName }),
  };
}

/** Token files may be rotated: they are read each time. */
async function authorizationOf(connection: ConnectionConfig): Promise<string | undefined> {
  const { token, tokenFile, username, password = '' } = connection;
  const bearer = tokenFile ? (await readFile(tokenFile, 'utf8')).trim() : token;
  if (bearer) return `Bearer ${bearer}`;
  if (username === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

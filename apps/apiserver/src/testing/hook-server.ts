/** An admission webhook for specs: an HTTPS server whose responses the spec decides. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ensureSelfSigned, systemClock } from '@orch/component';

export interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly name?: string;
    readonly object: Record<string, unknown> | null;
  };
}

export type Answer = (
  review: Review,
  response: ServerResponse,
  request: IncomingMessage,
) => Promise<void> | void;

/** Sends a review with these fields in its response; `allowed` by default. */
export function respond(review: Review, response: ServerResponse, fields: object = {}): void {
  const { apiVersion, request } = review;
  const body = { allowed: true, uid: request.uid, ...fields };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: body }));
}

export class HookServer {
  /** By path. */
  readonly answers = new Map<string, Answer>();
  readonly calls: { readonly path: string; readonly request: IncomingMessage }[] = [];
  connectionCount = 0;

  private constructor(
    private readonly server: Server,
    readonly caBundle: string,
    private readonly directory: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.serve(request, response);
    });
    server.on('secureConnection', () => {
      this.connectionCount += 1;
    });
  }

  static async start(hosts: readonly string[] = []): Promise<HookServer> {
    const directory = mkdtempSync(join(tmpdir(), 'orch-hook-'));
    const pair = await ensureSelfSigned(
      directory,
      'hook',
      {
        commonName: 'hook',
        hosts: ['127.0.0.1', ...hosts],
        usages: ['server'],
        validMs: 3_600_000,
      },
      systemClock,
    );
    const tls = { cert: pair.certificatePem, key: pair.keyPem };
    const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const caBundle = Buffer.from(pair.certificatePem).toString('base64');
    return new HookServer(server, caBundle, directory);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The client configuration of a webhook at a path. */
  at(path: string): object {
    return { url: `https://127.0.0.1:${this.port}${path}`, caBundle: this.caBundle };
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const body = await text(request);
    this.calls.push({ path, request });
    const review = JSON.parse(body || '{}') as Review;
    const answer = this.answers.get(path);
    if (answer) await answer(review, response, request);
    else respond(review, response);
  }
}

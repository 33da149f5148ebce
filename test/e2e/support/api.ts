/** Plain requests to a cluster's API with the administrator's token, without our own client. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Cluster } from './cluster.js';

export interface ApiAnswer<T = unknown> {
  readonly status: number;
  readonly body: T;
}

export interface Exchange {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
}

export class Api {
  private readonly agent: Agent;
  private readonly authorization: string;

  constructor(private readonly cluster: Cluster) {
    const ca = readFileSync(join(cluster.dataDirectory, 'ca.crt'));
    this.agent = new Agent({ connect: { ca }, connections: 4 });
    this.authorization = `Bearer ${cluster.token}`;
  }

  call<T>(method: string, path: string, body?: unknown): Promise<ApiAnswer<T>> {
    return this.send<T>(method, path, body === undefined ? null : JSON.stringify(body));
  }

  /** Sends the body unchanged, valid or not. */
  async send<T>(
    method: string,
    path: string,
    body: string | null,
    contentType = 'application/json',
  ): Promise<ApiAnswer<T>> {
    const answer = await request(`${this.cluster.url}${path}`, {
      method: method as 'GET',
      dispatcher: this.agent,
      headers: { authorization: this.authorization, 'content-type': contentType },
      body,
      headersTimeout: 10_000,
      bodyTimeout: 10_000,
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as T };
  }

  /** Sends the caller's headers, and returns the headers of the response. */
  async exchange(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | Buffer | null = null,
  ): Promise<Exchange> {
    const answer = await request(`${this.cluster.url}${path}`, {
      method: method as 'GET',
      dispatcher: this.agent,
      headers: { authorization: this.authorization, ...headers },
      body,
      headersTimeout: 10_000,
      bodyTimeout: 10_000,
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, headers: answer.headers, bytes };
  }

  /** The response text, for bodies that are no JSON and for comparing bytes. */
  async text(method: string, path: string): Promise<ApiAnswer<string>> {
    const answer = await request(`${this.cluster.url}${path}`, {
      method: method as 'GET',
      dispatcher: this.agent,
      headers: { authorization: this.authorization },
      headersTimeout: 10_000,
      bodyTimeout: 10_000,
    });
    return { status: answer.statusCode, body: await answer.body.text() };
  }

  close(): Promise<void> {
    return this.agent.close();
  }
}

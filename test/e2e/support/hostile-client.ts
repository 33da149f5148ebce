/** A client of one cluster that sends broken requests and many requests. */
import { Agent, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'vitest';
import type { Cluster } from './cluster.js';

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface Sent {
  readonly body?: string | Buffer;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

export class HostileClient {
  private readonly agent: Agent;

  constructor(
    private readonly cluster: Cluster,
    private readonly ca: Buffer,
  ) {
    this.agent = new Agent({ ca, keepAlive: true });
  }

  /** Sends a request as the administrator, unless `headers` name another user. */
  send(method: string, target: string, sent: Sent = {}): Promise<ReceivedResponse> {
    const { body, type = 'application/json', headers = {} } = sent;
    const own = {
      authorization: `Bearer ${this.cluster.token}`,
      ...(body !== undefined && {
        'content-type': type,
        'content-length': String(Buffer.byteLength(body)),
      }),
    };
    return new Promise((done, fail) => {
      const options = {
        method,
        agent: this.agent,
        headers: { ...own, ...headers },
        timeout: 15_000,
      };
      const sending = request(`${this.cluster.url}${target}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          done({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on('error', fail);
      });
      sending.on('timeout', () => sending.destroy(new Error(`no response to ${method} ${target}`)));
      sending.on('error', fail);
      sending.end(body);
    });
  }

  /** Sends bytes over a new connection. Resolves with the received text when it is closed. */
  talk(bytes: string | Buffer, tls = true): Promise<string> {
    const port = Number(new URL(this.cluster.url).port);
    return new Promise((done) => {
      const socket: Socket = tls
        ? connectTls({ host: '127.0.0.1', port, ca: this.ca, ALPNProtocols: ['http/1.1'] })
        : connectTcp(port, '127.0.0.1');
      let received = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        received += chunk;
      });
      socket.setTimeout(10_000, () => socket.destroy());
      socket.on('error', () => socket.destroy());
      socket.on('close', () => done(received));
      socket.write(bytes);
    });
  }

  /** Opens a watch without events, over an agent of the caller. */
  openIdleWatch(agent: Agent): Promise<{ destroy(): void }> {
    return new Promise((done, fail) => {
      const headers = { authorization: `Bearer ${this.cluster.token}` };
      const target = `${this.cluster.url}/api/v1/secrets?watch=true`;
      const sending = request(target, { agent, headers }, (response) => {
        response.on('error', () => undefined);
        if (response.statusCode === 200) done(sending);
        else fail(new Error(`a watch failed with ${response.statusCode}`));
      });
      sending.on('error', fail);
      sending.end();
    });
  }

  /** Resolves with the status code of a GET, over an agent of the caller. */
  statusOf(agent: Agent, target: string, token: string): Promise<number> {
    return new Promise((done, fail) => {
      const headers = { authorization: `Bearer ${token}` };
      const sending = request(`${this.cluster.url}${target}`, { agent, headers }, (response) => {
        response.resume().on('end', () => done(response.statusCode ?? 0));
        response.on('error', fail);
      });
      sending.on('error', fail);
      sending.end();
    });
  }

  destroy(): void {
    this.agent.destroy();
  }
}

/** Expects a refusal with a message, and no internal error. */
export function expectRefused({ status, text }: ReceivedResponse, code?: number): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  if (code !== undefined) expect([status, text]).toEqual([code, text]);
  const body = JSON.parse(text);
  expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
  expect(body.message.length).toBeGreaterThan(10);
  expect(body.message).not.toMatch(/call stack|undefined|\[object/);
}

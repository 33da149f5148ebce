/** A whole API server for specs: over TLS, on a port and in a directory of its own. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createLogger, FeatureGates, Lifecycle, parseOptions, systemClock } from '@orch/component';
import { WebSocket } from 'ws';
import { ApiServerOptions } from '../api-server-options.js';
import { startApiServer } from '../start-api-server.js';

const authorization = 'Bearer secret';

export interface Ask {
  /** Bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The user's own when absent, none when null. */
  readonly token?: string | null;
}

export interface Surroundings {
  /** A place of its own when left out. */
  readonly dataDir?: string;
  readonly port?: number;
  /** Besides the administrator, by their names, which are their tokens as well. */
  readonly users?: readonly string[];
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Of an answer that is one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says; specs assert what it is
  readonly body: any;
}

export class RunningServer {
  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly lifecycle: Lifecycle,
  ) {}

  static async start(
    flags: readonly string[] = [],
    surroundings: Surroundings = {},
  ): Promise<RunningServer> {
    const directory = mkdtempSync(join(tmpdir(), 'orch-apiserver-'));
    const tokenFile = join(directory, 'tokens.csv');
    const { dataDir = join(directory, 'data'), port = await freePort(), users = [] } = surroundings;
    const others = users.map((name) => `${name},${name},${name}\n`).join('');
    writeFileSync(tokenFile, `secret,admin,1,"system:masters"\n${others}`);
    const logger = createLogger({
      component: 'test',
      format: 'text',
      level: 'fatal',
      write: () => undefined,
    });
    const lifecycle = new Lifecycle({ clock: systemClock, logger, shutdownTimeoutMs: 10_000 });
    const options = parseOptions(
      ApiServerOptions,
      [
        `--data-dir=${dataDir}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--token-auth-file=${tokenFile}`,
        ...flags,
      ],
      { program: 'orch-apiserver', description: '', version: '0' },
    );
    const features = new FeatureGates('apiserver');
    features.set(options.common.featureGates);
    const server = new RunningServer(port, directory, lifecycle);
    try {
      await startApiServer({ options, features, logger, lifecycle });
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  async stop(): Promise<void> {
    this.lifecycle.stop('test');
    await this.lifecycle.whenEnded();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The answer as it begins. */
  async open(method: string, path: string, ask: Ask = {}): Promise<IncomingMessage> {
    const { body, headers, token = 'secret' } = ask;
    const sent =
      body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const asked = httpsRequest({
      host: '127.0.0.1',
      port: this.port,
      path,
      method,
      agent: false,
      rejectUnauthorized: false,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(sent && { 'content-type': 'application/json', 'content-length': String(sent.length) }),
        ...headers,
      },
    });
    asked.end(sent);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return answer;
  }

  async call(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.open(method, path, ask);
    const said = await text(answer);
    return {
      code: answer.statusCode ?? 0,
      headers: answer.headers,
      text: said,
      get body() {
        return JSON.parse(said);
      },
    };
  }

  async must(method: string, path: string, body?: unknown): Promise<Answer['body']> {
    const answer = await this.call(method, path, { body });
    if (answer.code >= 300) {
      throw new Error(`${method} ${path}: ${answer.code} ${answer.text}`);
    }
    return answer.body;
  }

  webSocket(
    path: string,
    protocols: readonly string[] = [],
    headers: Readonly<Record<string, string>> = { authorization },
  ): WebSocket {
    return new WebSocket(`wss://127.0.0.1:${this.port}${path}`, [...protocols], {
      rejectUnauthorized: false,
      headers,
    });
  }
}

/** The code and body with which a WebSocket is refused. */
export async function refusal(socket: WebSocket): Promise<[number, Answer['body']]> {
  socket.on('error', () => undefined);
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return [answer.statusCode ?? 0, JSON.parse(await text(answer))];
}

async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

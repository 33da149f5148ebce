/** A complete API server for specs, over TLS, with its own port and directory. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  createLogger,
  dialect,
  FeatureGates,
  Lifecycle,
  parseOptions,
  systemClock,
} from '@orch/component';
import { WebSocket } from 'ws';
import { ApiServerOptions } from '../options/api-server-options.js';
import { startApiServer } from '../start-api-server.js';

const authorization = 'Bearer secret';
const grantTimeoutMs = 10_000;

export interface RequestOptions {
  /** Bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The default is the token of the administrator; null sends no token. */
  readonly token?: string | null;
}

export interface RunningServerOptions {
  /** The default is a new directory. */
  readonly dataDir?: string;
  readonly port?: number;
  /**
   * Names of users besides the administrator, who may do nothing before `grantEverything`. Their
   * tokens are their names.
   */
  readonly users?: readonly string[];
}

export interface ServerResponse {
  readonly code: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The text, parsed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: specs assert the content
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
    { dataDir: givenDirectory, port: givenPort, users = [] }: RunningServerOptions = {},
  ): Promise<RunningServer> {
    const directory = mkdtempSync(join(tmpdir(), 'orch-apiserver-'));
    const tokenFile = join(directory, 'tokens.csv');
    const dataDir = givenDirectory ?? join(directory, 'data');
    const port = givenPort ?? (await freePort());
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

  /** Resolves when the headers of the response have arrived. */
  async open(
    method: string,
    path: string,
    { body, headers, token = 'secret' }: RequestOptions = {},
  ): Promise<IncomingMessage> {
    const sent =
      body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const request = httpsRequest({
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
    request.end(sent);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  async call(method: string, path: string, options: RequestOptions = {}): Promise<ServerResponse> {
    const response = await this.open(method, path, options);
    const received = await text(response);
    return {
      code: response.statusCode ?? 0,
      headers: response.headers,
      text: received,
      get body() {
        return JSON.parse(received);
      },
    };
  }

  /** Returns the body. Throws if the request fails. */
  async must(method: string, path: string, body?: unknown): Promise<ServerResponse['body']> {
    const response = await this.call(method, path, { body });
    if (response.code >= 300) {
      throw new Error(`${method} ${path}: ${response.code} ${response.text}`);
    }
    return response.body;
  }

  /** Lets users do everything. Resolves when the server decides so. */
  async grantEverything(users: readonly string[]): Promise<void> {
    const role = 'cluster-admin';
    const apiGroup = dialect().group('rbac.authorization');
    await this.must('POST', `/apis/${apiGroup}/v1/clusterrolebindings`, {
      metadata: { name: users.join('-') },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: users.map((name) => ({ apiGroup, kind: 'User', name })),
    });
    const rules = `/apis/${dialect().apiVersion('authorization', 'v1')}/selfsubjectrulesreviews`;
    const body = { spec: { namespace: 'default' } };
    const headers = { authorization: `Bearer ${users[0]}` };
    const deadlineMs = performance.now() + grantTimeoutMs;
    for (;;) {
      const review = await this.call('POST', rules, { body, headers });
      if (review.text.includes('"verbs":["*"]')) return;
      if (performance.now() > deadlineMs) throw new Error(`not granted: ${review.text}`);
    }
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

/** The code and body of the response that rejects a WebSocket. */
export async function refusal(socket: WebSocket): Promise<[number, ServerResponse['body']]> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return [response.statusCode ?? 0, JSON.parse(await text(response))];
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

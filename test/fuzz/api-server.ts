/**
 * The built API server as a child process, with a data directory of its own, and requests to it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const main = resolve(import.meta.dirname, '../../apps/apiserver/src/main.js');
const token = 'fuzztoken';
const startTimeoutMs = 60_000;
/** Longest wait for a response; a slower request counts as lost. */
const responseTimeoutMs = 60_000;
const heapMegabytesMax = 384;
const logLinesMax = 200;
/** Bytes read of a response, because a stream lasts as long as it is read. */
const responseBytesMax = 4 * 1024 * 1024;

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface ApiResponse {
  readonly statusCode: number;
  readonly contentType: string;
  readonly text: string;
}

export class ApiServer {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  private readonly log: string[] = [];
  private exit: string | undefined;

  private constructor(
    private readonly directory: string,
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.log.push(chunk.toString());
        if (this.log.length > logLinesMax) this.log.shift();
      });
    }
    child.once('exit', (code, signal) => {
      this.exit = `code ${code}, signal ${signal}`;
    });
  }

  /** Starts a server and resolves when it is ready. */
  static async start(): Promise<ApiServer> {
    const directory = mkdtempSync(join(tmpdir(), 'orch-fuzz-'));
    const port = await freePort();
    const tokenFile = join(directory, 'tokens.csv');
    writeFileSync(tokenFile, `${token},fuzz,fuzz-uid,"system:masters"\n`);
    const child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${heapMegabytesMax}`,
        main,
        `--data-dir=${join(directory, 'data')}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--token-auth-file=${tokenFile}`,
        '--service-cluster-ip-range=10.96.0.0/16',
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const server = new ApiServer(directory, child, port);
    const deadlineMs = Date.now() + startTimeoutMs;
    for (;;) {
      const ready = await server.request({ method: 'GET', path: '/readyz' }).catch(() => undefined);
      if (ready?.statusCode === 200) return server;
      if (server.exit !== undefined || Date.now() > deadlineMs) {
        await server.stop();
        throw new Error(`the API server did not start:\n${server.log.join('')}`);
      }
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /** Resolves with the response, or the beginning of a stream. Rejects if there is no response. */
  request({ method, path, headers = {}, body }: ApiRequest): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) =>
        reject(
          new Error(
            `${error.message}; ${method} ${path.slice(0, 200)}; the server: ${this.exit ?? 'runs'}\n${this.log.slice(-5).join('')}`,
          ),
        );
      const call = request(
        {
          host: '127.0.0.1',
          port: this.port,
          agent: this.agent,
          method,
          path: sendablePath(path),
          headers: {
            authorization: `Bearer ${token}`,
            ...sendableHeaders(headers),
            ...(body && body.length > 0 && { 'content-length': body.length }),
          },
          timeout: responseTimeoutMs,
        },
        (response) => {
          const chunks: Buffer[] = [];
          let byteCount = 0;
          const statusCode = response.statusCode ?? 0;
          const contentType = response.headers['content-type'] ?? '';
          const done = () =>
            resolve({ statusCode, contentType, text: Buffer.concat(chunks).toString() });
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            byteCount += chunk.length;
            if (byteCount <= responseBytesMax) return;
            done();
            response.destroy();
          });
          response.once('end', done);
          // An open watch sends no end; its headers are the result.
          if (response.headers['transfer-encoding'] === 'chunked' && isStream(path)) {
            done();
            response.destroy();
          }
          response.once('error', fail);
        },
      );
      call.once('timeout', () => call.destroy(new Error('no response')));
      call.once('error', fail);
      call.end(body);
    });
  }

  residentBytes(): number {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    if (this.exit === undefined) {
      const ended = new Promise((done) => this.child.once('exit', done));
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function isStream(path: string): boolean {
  return /[?&]watch|\/watch\/|%77atch/.test(path);
}

/** Removes the characters that this client refuses to send. */
function sendablePath(path: string): string {
  return path.replace(/[^\x21-\xff]/g, '') || '/';
}

function sendableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''),
    ]),
  );
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => done(port));
    });
  });
}

/** The built API server as a child process, with a data directory of its own, and requests to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const main = resolve(import.meta.dirname, '../../apps/apiserver/src/main.js');
const token = 'fuzztoken';
const startTimeoutMs = 60_000;
/** A request without an answer by then has been lost. */
const answerTimeoutMs = 60_000;
const heapMegabytesMax = 384;
const logLinesKept = 200;
/** Of an answer: streams go on for as long as they are read. */
const answerBytesMax = 4 * 1024 * 1024;

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface Answered {
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
        if (this.log.length > logLinesKept) this.log.shift();
      });
    }
    child.once('exit', (code, signal) => {
      this.exit = `code ${code}, signal ${signal}`;
    });
  }

  /** Resolves when it is ready. */
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

  /** Of an answer that streams, what comes first. Rejects when there is none. */
  request({ method, path, headers = {}, body }: Asked): Promise<Answered> {
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
          timeout: answerTimeoutMs,
        },
        (answer) => {
          const chunks: Buffer[] = [];
          let byteCount = 0;
          const statusCode = answer.statusCode ?? 0;
          const contentType = answer.headers['content-type'] ?? '';
          const done = () =>
            resolve({ statusCode, contentType, text: Buffer.concat(chunks).toString() });
          answer.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            byteCount += chunk.length;
            if (byteCount <= answerBytesMax) return;
            done();
            answer.destroy();
          });
          answer.once('end', done);
          // A stream that goes on: that it has begun is answer enough.
          if (answer.headers['transfer-encoding'] === 'chunked' && isStream(path)) {
            done();
            answer.destroy();
          }
          answer.once('error', fail);
        },
      );
      call.once('timeout', () => call.destroy(new Error('no answer')));
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

/** Without what this client refuses to send. */
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

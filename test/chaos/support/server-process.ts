/**
 * One API server as a process: started, killed, paused and started again with the same flags.
 * Records every unexpected end with its exit code, so that a crash is not mistaken for a fault of
 * the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { repositoryRoot } from './repository.js';
import { eventually } from './wait.js';

export interface StartOptions {
  /** File that Node runs. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A command line that runs it, such as `nice -n 19`; may be empty. */
  readonly wrapper: readonly string[];
}

export interface UnexpectedEnd {
  readonly member: string;
  readonly exit: string;
  readonly lastLines: string;
}

const endTimeoutMs = 60_000;
const lastBytesShown = 3_000;

export class ServerProcess {
  readonly unexpectedEnds: UnexpectedEnd[] = [];
  /** Its last exit code or signal name. */
  lastExit: string | undefined;
  isPaused = false;
  private child: ChildProcess | undefined;
  private endIsExpected = false;

  constructor(
    readonly name: string,
    readonly logFile: string,
    private readonly onSpawn: (pid: number) => void,
  ) {}

  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run`);
    return pid;
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  /** An end of the process until the next start is expected. */
  expectEnd(): void {
    this.endIsExpected = true;
  }

  start({ program, args, env, wrapper }: StartOptions): void {
    if (this.child) throw new Error(`${this.name} runs already`);
    const log = openSync(this.logFile, 'a');
    const line = [...wrapper, process.execPath, program, ...args];
    const child = spawn(line[0]!, line.slice(1), {
      cwd: repositoryRoot,
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.child = child;
    this.endIsExpected = false;
    this.isPaused = false;
    if (child.pid !== undefined) this.onSpawn(child.pid);
    child.on('error', (error) => this.ended(child, error.message));
    child.on('exit', (code, signal) => this.ended(child, signal ?? String(code)));
  }

  private ended(child: ChildProcess, exit: string): void {
    if (this.child !== child) return;
    this.child = undefined;
    this.lastExit = exit;
    if (this.endIsExpected) return;
    const log = readFileSync(this.logFile, 'utf8');
    this.unexpectedEnds.push({ member: this.name, exit, lastLines: log.slice(-lastBytesShown) });
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.child) return;
    if (signal === 'SIGSTOP') this.isPaused = true;
    if (signal === 'SIGCONT') this.isPaused = false;
    this.child.kill(signal);
  }

  /** Sends SIGKILL; resolves when the process has ended. */
  async kill(): Promise<void> {
    this.expectEnd();
    this.signal('SIGKILL');
    await this.waitForEnd();
  }

  /** Sends SIGTERM; resolves with its exit code or signal. */
  async stop(): Promise<string> {
    this.expectEnd();
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    await this.waitForEnd();
    return this.lastExit ?? 'was not running';
  }

  async waitForEnd(timeoutMs = endTimeoutMs): Promise<void> {
    await eventually(`the end of ${this.name}`, timeoutMs, () => !this.child);
  }
}

/**
 * A child process with its output in a log file. Restarts it with exponential back-off when it
 * dies. It runs in its own session, so that signals of the terminal reach only the
 * supervisor, which stops components in order.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, statSync } from 'node:fs';
import { Backoff, type Clock, exitCodes, type Timer } from '@orch/component';
import {
  healthyAfterMs,
  restartPauseMaxMs,
  restartPauseMinMs,
  stopTimeoutMs,
} from '../cluster/limits.js';
import { lastLogLines, logPath, openLog } from './log-files.js';
import { nodeEnvironment } from './node-environment.js';
import { identityOf, type ProcessIdentity } from './process-identity.js';
import type { ProcessSpec } from './process-spec.js';
import { endProcess } from './stop-leftovers.js';

export interface ManagedProcessDependencies {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Prints a line for the user. */
  readonly report: (text: string) => void;
  /** Called when a process has started or exited. */
  readonly changed: () => void;
}

export class ManagedProcess {
  private child: ChildProcess | undefined;
  private running: ProcessIdentity | undefined;
  private ended: Promise<void> = Promise.resolve();
  private logStartBytes = 0;
  private startedMs = 0;
  private restartTimer: Timer | undefined;
  private stopping = false;
  /** While false, an exit is a failed start. While true, the process is restarted. */
  private keepAlive = false;
  private failure: string | undefined;
  private endedInOrder = true;
  private readonly backoff: Backoff;

  constructor(
    readonly spec: ProcessSpec,
    private readonly dependencies: ManagedProcessDependencies,
  ) {
    this.backoff = new Backoff({
      initialMs: restartPauseMinMs,
      maxMs: restartPauseMaxMs,
      factor: 2,
      jitter: 0.1,
      random: dependencies.random,
    });
  }

  /** The running process. */
  get identity(): ProcessIdentity | undefined {
    return this.running;
  }

  /** Why the process exited before it was ready. Undefined while it runs. */
  get startFailure(): string | undefined {
    return this.failure;
  }

  start(): void {
    const { dataDirectory } = this.dependencies;
    const log = openLog(dataDirectory, this.spec.name);
    this.logStartBytes = statSync(logPath(dataDirectory, this.spec.name)).size;
    this.startedMs = this.dependencies.clock.monotonicMs();
    const { main, startArgs, args } = this.spec;
    const child = spawn(process.execPath, [main, ...(startArgs?.() ?? []), ...args], {
      detached: true,
      env: nodeEnvironment(),
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.child = child;
    this.running = child.pid === undefined ? undefined : identityOf(child.pid);
    this.ended = new Promise((settle) => {
      child.once('error', (error) => {
        this.onEnd(`cannot be run: ${error.message}`);
        settle();
      });
      child.once('exit', (code, signal) => {
        this.endedInOrder = code === exitCodes.ok;
        this.onEnd(signal ? `ended by ${signal}` : `ended with exit code ${code}`);
        settle();
      });
    });
    this.dependencies.changed();
  }

  /** From now on restarts the process whenever it exits. */
  startAgainFromNowOn(): void {
    this.keepAlive = true;
    if (this.failure !== undefined) this.scheduleRestart(this.failure);
  }

  /** Stops the process and waits for its exit. Returns false if it did not exit with code 0. */
  async stop(): Promise<boolean> {
    this.stopping = true;
    this.restartTimer?.cancel();
    const timeoutMs = stopTimeoutMs * this.spec.components.length;
    if (this.running) await endProcess(this.running, timeoutMs);
    await this.ended;
    return this.endedInOrder;
  }

  killNow(): void {
    this.stopping = true;
    this.restartTimer?.cancel();
    this.child?.kill('SIGKILL');
  }

  /** The last lines of its log, for an error about a failed start. */
  lastLines(): string[] {
    return lastLogLines(
      logPath(this.dependencies.dataDirectory, this.spec.name),
      this.logStartBytes,
    );
  }

  private onEnd(how: string): void {
    this.running = undefined;
    this.child = undefined;
    this.dependencies.changed();
    if (this.stopping) return;
    if (this.keepAlive) this.scheduleRestart(how);
    else this.failure = how;
  }

  private scheduleRestart(how: string): void {
    const { clock, report, dataDirectory } = this.dependencies;
    this.failure = undefined;
    if (clock.monotonicMs() - this.startedMs > healthyAfterMs) this.backoff.reset();
    const pauseMs = this.backoff.nextMs();
    const log = logPath(dataDirectory, this.spec.name);
    report(
      `${this.spec.name} ${how}; starting it again in ${(pauseMs / 1000).toFixed(1)} s (${log})`,
    );
    this.restartTimer = clock.setTimer(pauseMs, () => this.start());
  }
}

/**
 * One component as a child process: started with its output in its log, started again with a growing
 * pause when it dies, ended in order. It runs in a session of its own, so that the terminal's signals
 * reach the supervisor only and the order of ending is kept.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, statSync } from 'node:fs';
import { Backoff, type Clock, exitCodes, type Timer } from '@orch/component';
import type { ProcessSpec } from './components.js';
import { healthyAfterMs, restartPauseMaxMs, restartPauseMinMs, stopTimeoutMs } from './limits.js';
import { lastLogLines, logPath, openLog } from './log-files.js';
import { identityOf, type ProcessIdentity } from './process-identity.js';
import { endProcess } from './stop-leftovers.js';

export interface ManagedProcessParts {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Tells the user something. */
  readonly report: (text: string) => void;
  /** Called whenever a process was started or has ended. */
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
  /** Until then an end is not repaired but a failed start. */
  private keepAlive = false;
  private failure: string | undefined;
  private endedInOrder = true;
  private readonly backoff: Backoff;

  constructor(
    readonly spec: ProcessSpec,
    private readonly parts: ManagedProcessParts,
  ) {
    this.backoff = new Backoff({
      initialMs: restartPauseMinMs,
      maxMs: restartPauseMaxMs,
      factor: 2,
      jitter: 0.1,
      random: parts.random,
    });
  }

  /** The process as it runs now. */
  get identity(): ProcessIdentity | undefined {
    return this.running;
  }

  /** Why it ended before it was ready, undefined while it runs. */
  get startFailure(): string | undefined {
    return this.failure;
  }

  start(): void {
    const { dataDirectory } = this.parts;
    const log = openLog(dataDirectory, this.spec.name);
    this.logStartBytes = statSync(logPath(dataDirectory, this.spec.name)).size;
    this.startedMs = this.parts.clock.monotonicMs();
    const { main, startArgs, args } = this.spec;
    const child = spawn(process.execPath, [main, ...(startArgs?.() ?? []), ...args], {
      detached: true,
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
    this.parts.changed();
  }

  /** From now on it is started again whenever it ends. */
  startAgainFromNowOn(): void {
    this.keepAlive = true;
    if (this.failure !== undefined) this.scheduleRestart(this.failure);
  }

  /** Ends it and waits for that; it is not started again. False when it did not end in order. */
  async stop(): Promise<boolean> {
    this.stopping = true;
    this.restartTimer?.cancel();
    if (this.running) await endProcess(this.running, stopTimeoutMs);
    await this.ended;
    return this.endedInOrder;
  }

  killNow(): void {
    this.stopping = true;
    this.restartTimer?.cancel();
    this.child?.kill('SIGKILL');
  }

  /** Its last words, for a message about a failed start. */
  lastLines(): string[] {
    return lastLogLines(logPath(this.parts.dataDirectory, this.spec.name), this.logStartBytes);
  }

  private onEnd(how: string): void {
    this.running = undefined;
    this.child = undefined;
    this.parts.changed();
    if (this.stopping) return;
    if (this.keepAlive) this.scheduleRestart(how);
    else this.failure = how;
  }

  private scheduleRestart(how: string): void {
    const { clock, report, dataDirectory } = this.parts;
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

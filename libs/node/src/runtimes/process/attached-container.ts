/**
 * Attaches a client to a running container. Output is read from the end of the log: by line, or
 * immediately if the container has a terminal. Input is written to the pipe that the command reads.
 */
import { constants, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@orch/component';
import { containerStartTimeoutMs, promptPollPeriodMs } from '../../limits.js';
import { readLog } from '../../logs/log-reader.js';
import type { ContainerStatus, RunningCommand } from '../container-runtime.js';
import { TerminalSizer } from './terminal-sizer.js';

export interface AttachedContainer {
  status(): ContainerStatus;
  /** Returns a function that removes the listener. */
  onChanged(listener: () => void): () => void;
  /** Undefined if the container reads no input or the client sends none. */
  readonly inputPath: string | undefined;
  /** Called when the client has ended its input. */
  endInput(): void;
  readonly clock: Clock;
  /** The file with the path of the terminal; undefined without a terminal. */
  readonly terminalFile: string | undefined;
}

export function attachTo(container: AttachedContainer): RunningCommand {
  const disconnected = new AbortController();
  const { logPath } = container.status();
  const fromByte = existsSync(logPath) ? statSync(logPath).size : 0;
  const isRunning = () => container.status().state === 'running';
  const terminal = terminalOf(container.terminalFile, container.clock, disconnected.signal);
  const follow = (stream: 'stdout' | 'stderr'): PassThrough => {
    const output = new PassThrough();
    const source = {
      path: logPath,
      isRunning,
      ...(terminal && { pollPeriodMs: promptPollPeriodMs }),
    };
    const query = { follow: true, timestamps: false, fromByte, stream };
    const lines = readLog(source, query, container.clock, disconnected.signal);
    // The pipeline fails only if the client has disconnected.
    pipeline(lines, output).catch(() => output.destroy());
    return output;
  };
  const stdin = container.inputPath === undefined ? undefined : openInput(container.inputPath);
  stdin?.once('finish', () => container.endInput());
  return {
    stdin,
    stdout: follow('stdout'),
    stderr: terminal ? undefined : follow('stderr'),
    resize: (size) => terminal?.resize(size),
    disconnect: () => {
      disconnected.abort();
      stdin?.destroy();
    },
    exited: exitOf(container, isRunning, disconnected.signal),
  };
}

/** Returns a sizer that gets the path of the terminal as soon as the supervisor has written it. */
function terminalOf(
  file: string | undefined,
  clock: Clock,
  disconnected: AbortSignal,
): TerminalSizer | undefined {
  if (file === undefined) return undefined;
  const terminal = new TerminalSizer();
  const poll = (remainingMs: number) => {
    const path = existsSync(file) ? readFileSync(file, 'latin1') : '';
    if (path.endsWith('\n')) terminal.appendPath(path);
    else if (remainingMs > 0 && !disconnected.aborted) {
      clock.setTimer(promptPollPeriodMs, () => poll(remainingMs - promptPollPeriodMs));
    }
  };
  poll(containerStartTimeoutMs);
  return terminal;
}

/**
 * Opens the pipe without blocking: its reader may be slow, and blocking writes would occupy a pool
 * thread.
 */
function openInput(path: string): Writable {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: false, writable: true });
  // Errors mean that the container has ended.
  socket.on('error', () => undefined);
  return socket;
}

function exitOf(
  container: AttachedContainer,
  isRunning: () => boolean,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve) => {
    const check = () => {
      if (!signal.aborted && isRunning()) return;
      unsubscribe();
      // The attachment has succeeded; the status of the container has its exit code.
      resolve(0);
    };
    const unsubscribe = container.onChanged(check);
    signal.addEventListener('abort', check, { once: true });
    if (!isRunning()) check();
  });
}

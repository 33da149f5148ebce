/**
 * A running container as somebody who joins it sees it. What it writes is taken from its log from now
 * on: line by line, or as it comes where it has a terminal. What is sent goes into the pipe that it reads.
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
  /** Returns a function that ends it. */
  onChanged(listener: () => void): () => void;
  /** Absent where the container reads nothing, or nobody wants to send. */
  readonly inputPath: string | undefined;
  /** The sender has ended its input. */
  endInput(): void;
  readonly clock: Clock;
  /** File with the name of its terminal; absent where it has none. */
  readonly terminalFile: string | undefined;
}

export function attachTo(container: AttachedContainer): RunningCommand {
  const left = new AbortController();
  const { logPath } = container.status();
  const fromByte = existsSync(logPath) ? statSync(logPath).size : 0;
  const isRunning = () => container.status().state === 'running';
  const terminal = terminalOf(container.terminalFile, container.clock, left.signal);
  const follow = (stream: 'stdout' | 'stderr'): PassThrough => {
    const output = new PassThrough();
    const source = {
      path: logPath,
      isRunning,
      ...(terminal && { pollPeriodMs: promptPollPeriodMs }),
    };
    const query = { follow: true, timestamps: false, fromByte, stream };
    const lines = readLog(source, query, container.clock, left.signal);
    // It ends early only when the reader has gone.
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
    leave: () => {
      left.abort();
      stdin?.destroy();
    },
    exited: ended(container, isRunning, left.signal),
  };
}

/** The name is there soon after the start. */
function terminalOf(
  file: string | undefined,
  clock: Clock,
  left: AbortSignal,
): TerminalSizer | undefined {
  if (file === undefined) return undefined;
  const terminal = new TerminalSizer();
  const look = (leftMs: number) => {
    const name = existsSync(file) ? readFileSync(file, 'latin1') : '';
    if (name.endsWith('\n')) terminal.named(name);
    else if (leftMs > 0 && !left.aborted) {
      clock.setTimer(promptPollPeriodMs, () => look(leftMs - promptPollPeriodMs));
    }
  };
  look(containerStartTimeoutMs);
  return terminal;
}

/** A pipe whose reader may not read for long: writes must not hold one of the few threads for files. */
function openInput(path: string): Writable {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => undefined); // the container has ended
  return socket;
}

function ended(
  container: AttachedContainer,
  isRunning: () => boolean,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      if (!signal.aborted && isRunning()) return;
      unsubscribe();
      // How it ended is for its status to say; being attached to it has succeeded.
      resolve(0);
    };
    const unsubscribe = container.onChanged(look);
    signal.addEventListener('abort', look, { once: true });
    if (!isRunning()) look();
  });
}

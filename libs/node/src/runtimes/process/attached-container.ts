/**
 * A running container as somebody who joins it sees it. What it writes is taken from its log from now
 * on, so it comes line by line; what is sent goes into the pipe that it reads.
 */
import { constants, existsSync, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { PassThrough, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@orch/component';
import { readLog } from '../../logs/log-reader.js';
import type { ContainerStatus, RunningCommand } from '../container-runtime.js';

export interface AttachedContainer {
  status(): ContainerStatus;
  /** Returns a function that ends it. */
  onChanged(listener: () => void): () => void;
  /** Absent where the container reads nothing, or nobody wants to send. */
  readonly inputPath: string | undefined;
  /** The sender has ended its input. */
  endInput(): void;
  readonly clock: Clock;
}

export function attachTo(container: AttachedContainer): RunningCommand {
  const left = new AbortController();
  const { logPath } = container.status();
  const fromByte = existsSync(logPath) ? statSync(logPath).size : 0;
  const isRunning = () => container.status().state === 'running';
  const follow = (stream: 'stdout' | 'stderr'): PassThrough => {
    const output = new PassThrough();
    const query = { follow: true, timestamps: false, fromByte, stream };
    const lines = readLog({ path: logPath, isRunning }, query, container.clock, left.signal);
    // It ends early only when the reader has gone.
    pipeline(lines, output).catch(() => output.destroy());
    return output;
  };
  const stdin = container.inputPath === undefined ? undefined : openInput(container.inputPath);
  stdin?.once('finish', () => container.endInput());
  return {
    stdin,
    stdout: follow('stdout'),
    stderr: follow('stderr'),
    resize: () => undefined,
    leave: () => {
      left.abort();
      stdin?.destroy();
    },
    exited: ended(container, isRunning, left.signal),
  };
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

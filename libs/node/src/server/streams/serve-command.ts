/** Joins a client's streams to a command until it ends or the client has gone. */

import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@orch/component';
import { type CommandStreams, commandFailed, exitStatus } from '@orch/streaming';
import type { RunningCommand } from '../../runtimes/container-runtime.js';
import { IdleTimer } from './idle-timer.js';

/** `start` is called once the client is there. Never rejects: the client is told what went wrong. */
export async function serveCommand(
  streams: CommandStreams,
  start: () => Promise<RunningCommand>,
  idleTimeoutMs: number,
  clock: Clock,
): Promise<void> {
  const idle = new IdleTimer(idleTimeoutMs, clock);
  try {
    const command = await start();
    const leave = () => command.leave();
    if (streams.gone.aborted) leave();
    streams.gone.addEventListener('abort', leave, { once: true });
    idle.signal.addEventListener('abort', leave, { once: true });
    streams.onResize((size) => command.resize(size));
    for (const source of [streams.stdin, command.stdout, command.stderr]) idle.watch(source);
    joinInput(streams.stdin, command.stdin);
    const outputs = [
      joinOutput(command.stdout, streams.stdout),
      joinOutput(command.stderr, streams.stderr),
    ];
    const exitCode = await command.exited;
    await Promise.all(outputs);
    command.leave();
    const status = idle.signal.aborted
      ? commandFailed('nothing was sent or received for too long')
      : exitStatus(exitCode);
    await streams.finish(status);
  } catch (error) {
    await streams.finish(commandFailed((error as Error).message));
  } finally {
    idle.stop();
  }
}

function joinInput(from: Readable | undefined, to: Writable | undefined): void {
  if (!from) return;
  from.on('error', () => to?.destroy());
  if (!to) {
    from.resume();
    return;
  }
  // A command that has closed its input does not want the rest.
  to.once('close', () => from.resume());
  from.pipe(to);
}

/** Resolves when the client has it all, or is gone. */
async function joinOutput(from: Readable | undefined, to: Writable | undefined): Promise<void> {
  if (!from) return;
  if (!to) {
    from.resume();
    return;
  }
  try {
    await pipeline(from, to);
  } catch {
    from.resume(); // the client has gone; the command is told apart from this
  }
}

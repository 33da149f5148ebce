/**
 * Connects the streams of a client to a command until the command ends or the client disconnects.
 */

import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, errorMessage } from '@orch/component';
import { type CommandStreams, commandFailed, exitStatus } from '@orch/streaming';
import type { RunningCommand } from '../../runtimes/container-runtime.js';
import { IdleTimer } from './idle-timer.js';

/** Starts the command and serves it. Never rejects: errors are sent to the client. */
export async function serveCommand(
  streams: CommandStreams,
  start: () => Promise<RunningCommand>,
  idleTimeoutMs: number,
  clock: Clock,
): Promise<void> {
  const idle = new IdleTimer(idleTimeoutMs, clock);
  try {
    const command = await start();
    const disconnect = () => command.disconnect();
    if (streams.closed.aborted) disconnect();
    streams.closed.addEventListener('abort', disconnect, { once: true });
    idle.signal.addEventListener('abort', disconnect, { once: true });
    streams.onResize((size) => command.resize(size));
    for (const source of [streams.stdin, command.stdout, command.stderr]) idle.watch(source);
    pipeInput(streams.stdin, command.stdin);
    const outputs = [
      pipeOutput(command.stdout, streams.stdout),
      pipeOutput(command.stderr, streams.stderr),
    ];
    const exitCode = await command.exited;
    await Promise.all(outputs);
    command.disconnect();
    const status = idle.signal.aborted
      ? commandFailed(`no data was sent or received for ${idleTimeoutMs / 1000} s`)
      : exitStatus(exitCode);
    await streams.finish(status);
  } catch (error) {
    await streams.finish(commandFailed(errorMessage(error)));
  } finally {
    idle.stop();
  }
}

function pipeInput(from: Readable | undefined, to: Writable | undefined): void {
  if (!from) return;
  from.on('error', () => to?.destroy());
  if (!to) {
    from.resume();
    return;
  }
  // The rest is discarded after the command has closed its input.
  to.once('close', () => from.resume());
  from.pipe(to);
}

/** Resolves when the client has received everything or has disconnected. */
async function pipeOutput(from: Readable | undefined, to: Writable | undefined): Promise<void> {
  if (!from) return;
  if (!to) {
    from.resume();
    return;
  }
  try {
    await pipeline(from, to);
  } catch {
    // The client has disconnected; `streams.closed` ends the command.
    from.resume();
  }
}

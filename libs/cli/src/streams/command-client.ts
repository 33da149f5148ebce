/**
 * The client of a remote command over a WebSocket: forwards local input to the command and its
 * output to local streams. Invariant: no side is read faster than the other side accepts data.
 */
import type { Readable, Writable } from 'node:stream';
import {
  bytesOf,
  type CommandStatus,
  channels,
  closeChannel,
  decodeMessage,
  encodeMessage,
  keepAlive,
  sendMessage,
  webSocketCommandProtocols,
} from '@orch/streaming';
import type { WebSocket } from 'ws';
import { CliError, RemoteExit } from '../command-line/errors.js';
import type { Session } from '../session/session.js';
import { openWebSocket } from './open.js';

export interface LocalEnds {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  readonly tty: boolean;
  /** Called with a function that sends a new terminal size. Returns a function that stops it. */
  readonly onSizes?: (tell: (columns: number, rows: number) => void) => () => void;
}

/** Runs a remote command. Rejects with RemoteExit if its exit code is not 0. */
export async function runRemotely(session: Session, path: string, ends: LocalEnds): Promise<void> {
  const protocols = webSocketCommandProtocols().filter(({ base64 }) => !base64);
  const names = protocols.map(({ name }) => name);
  const socket = await openWebSocket(session, path, names);
  const version = protocols.find(({ name }) => name === socket.protocol)?.version ?? 1;
  const ended = outcomeOf(socket, ends);
  const stopSizes = ends.onSizes?.((Width, Height) => {
    const text = Buffer.from(JSON.stringify({ Width, Height }));
    if (socket.readyState === socket.OPEN) socket.send(encodeMessage(channels.resize, text, false));
  });
  if (ends.stdin) void sendInput(socket, ends.stdin, version);
  try {
    checkOutcome(await ended, version);
  } finally {
    stopSizes?.();
    ends.stdin?.destroy();
    socket.close();
  }
}

/** The text of the error channel, when the connection has closed. */
function outcomeOf(socket: WebSocket, { stdout, stderr }: LocalEnds): Promise<string> {
  let errorText = '';
  const heard = keepAlive(socket, () => socket.isPaused);
  const show = (output: Writable | undefined, data: Buffer) => {
    if (data.length === 0 || !output || output.write(data)) return;
    socket.pause();
    output.once('drain', () => socket.resume());
  };
  return new Promise((resolve, reject) => {
    socket.on('message', (message) => {
      heard();
      const decoded = decodeMessage(bytesOf(message), false);
      if (decoded?.channel === channels.stdout) show(stdout, decoded.data);
      else if (decoded?.channel === channels.stderr) show(stderr, decoded.data);
      else if (decoded?.channel === channels.error) errorText += decoded.data.toString('utf8');
    });
    socket.once('close', (code, reason) => {
      if (errorText !== '' || code === 1000) resolve(errorText);
      else reject(new CliError(`the connection closed early (${code} ${reason})`.trim()));
    });
    socket.on('error', (error) =>
      reject(new CliError(`the connection is broken: ${error.message}`)),
    );
    socket.resume();
  });
}

async function sendInput(socket: WebSocket, input: Readable, version: number): Promise<void> {
  try {
    for await (const chunk of input) {
      await sendMessage(socket, encodeMessage(channels.stdin, chunk as Buffer, false));
    }
    // Protocols before version 5 cannot signal the end of the input.
    if (version >= 5) await sendMessage(socket, Buffer.of(closeChannel, channels.stdin));
  } catch {
    return; // the command ended first, and its outcome is reported
  }
}

function checkOutcome(errorText: string, version: number): void {
  if (version < 4) {
    if (errorText !== '') throw new CliError(errorText);
    return;
  }
  const status: CommandStatus | undefined = errorText === '' ? undefined : JSON.parse(errorText);
  if (!status) throw new CliError('the connection closed without a status');
  if (status.status === 'Success') return;
  const code = status.details?.causes.find(({ reason }) => reason === 'ExitCode')?.message;
  if (status.reason === 'NonZeroExitCode' && code) throw new RemoteExit(Number(code));
  throw new CliError(status.message ?? 'the command failed');
}

/**
 * The client's side of a remote command over a WebSocket: what is read here goes to its input, what it
 * writes comes out here. Invariant: neither side is read faster than the other takes it.
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
import { CliError, RemoteExit } from '../errors.js';
import type { Session } from '../session.js';
import { openWebSocket } from './open.js';

export interface LocalEnds {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  readonly tty: boolean;
  /** Called with a function that tells the other side of a new size; returns one that ends it. */
  readonly onSizes?: (tell: (columns: number, rows: number) => void) => () => void;
}

/** Resolves when the command has ended well. Rejects with RemoteExit for another exit code. */
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
    judge(await ended, version);
  } finally {
    stopSizes?.();
    ends.stdin?.destroy();
    socket.close();
  }
}

/** What came on the error channel until the end. */
function outcomeOf(socket: WebSocket, { stdout, stderr }: LocalEnds): Promise<string> {
  let said = '';
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
      else if (decoded?.channel === channels.error) said += decoded.data.toString('utf8');
    });
    socket.once('close', (code, reason) => {
      if (said !== '' || code === 1000) resolve(said);
      else reject(new CliError(`the connection has ended early (${code} ${reason})`.trim()));
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
    // Before version 5 nothing says that the input is over.
    if (version >= 5) await sendMessage(socket, Buffer.of(closeChannel, channels.stdin));
  } catch {
    return; // the command has ended first; its outcome is what counts
  }
}

function judge(said: string, version: number): void {
  if (version < 4) {
    if (said !== '') throw new CliError(said);
    return;
  }
  const status = said === '' ? undefined : (JSON.parse(said) as CommandStatus);
  if (!status) throw new CliError('the connection has ended without an outcome');
  if (status.status === 'Success') return;
  const code = status.details?.causes.find(({ reason }) => reason === 'ExitCode')?.message;
  if (status.reason === 'NonZeroExitCode' && code) throw new RemoteExit(Number(code));
  throw new CliError(status.message ?? 'the command failed');
}

/**
 * The server side of a remote command over SPDY: one stream per direction, identified by a header.
 */
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { closeTimeoutMs, streamCreationTimeoutMs } from '../limits.js';
import type { CommandProtocol } from '../protocols.js';
import {
  type CommandRequest,
  type CommandStatus,
  type CommandStreams,
  encodeStatus,
  parseTerminalSize,
  type TerminalSize,
} from '../remote-command.js';
import type { SpdySession } from './session.js';
import type { SpdyStream } from './stream.js';

type StreamType = 'stdin' | 'stdout' | 'stderr' | 'error' | 'resize';

/** Length of the text of a terminal size. */
const sizeBytesMax = 256;

/** Resolves when the client has opened all requested streams; rejects after a time limit. */
export function commandStreams(
  session: SpdySession,
  protocol: CommandProtocol,
  request: CommandRequest,
): Promise<CommandStreams> {
  const expected = expectedTypes(protocol, request);
  const streams = new Map<StreamType, SpdyStream>();
  return new Promise((resolve, reject) => {
    const fail = (message: string) => {
      clearTimeout(timer);
      session.destroy();
      reject(new Error(message));
    };
    const timer = setTimeout(
      () => fail(`the client did not open its streams within ${streamCreationTimeoutMs} ms`),
      streamCreationTimeoutMs,
    );
    session.once('close', () => fail('the client has disconnected'));
    session.on('stream', (stream) => {
      const type = expected.find((candidate) => candidate === stream.headers.streamtype);
      if (type === undefined || streams.has(type)) {
        stream.destroy();
        return;
      }
      streams.set(type, stream);
      if (streams.size < expected.length) return;
      clearTimeout(timer);
      resolve(new CommandSession(session, protocol, streams));
    });
  });
}

function expectedTypes({ version }: CommandProtocol, request: CommandRequest): StreamType[] {
  const types: StreamType[] = ['error'];
  if (request.stdin) types.push('stdin');
  if (request.stdout) types.push('stdout');
  if (request.stderr) types.push('stderr');
  if (request.tty && version >= 3) types.push('resize');
  return types;
}

class CommandSession implements CommandStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  private readonly error: SpdyStream;
  private readonly disconnected = new AbortController();
  private size: TerminalSize | undefined;
  private resized: ((size: TerminalSize) => void) | undefined;

  constructor(
    private readonly session: SpdySession,
    private readonly protocol: CommandProtocol,
    streams: ReadonlyMap<StreamType, SpdyStream>,
  ) {
    this.stdin = streams.get('stdin');
    this.stdout = streams.get('stdout');
    this.stderr = streams.get('stderr');
    this.error = streams.get('error')!;
    // The client ends its half of these immediately; it must be read for the end to be noticed.
    for (const type of ['stdout', 'stderr', 'error'] as const) streams.get(type)?.resume();
    this.readSizes(streams.get('resize'));
    session.once('close', () => this.disconnected.abort());
  }

  get closed(): AbortSignal {
    return this.disconnected.signal;
  }

  onResize(listener: (size: TerminalSize) => void): void {
    this.resized = listener;
    if (this.size) listener(this.size);
  }

  async finish(status: CommandStatus): Promise<void> {
    if (this.disconnected.signal.aborted) return;
    const closed = new Promise<void>((resolve) => this.session.once('close', () => resolve()));
    const timer = setTimeout(() => this.session.destroy(), closeTimeoutMs);
    this.stdin?.resume();
    this.error.end(encodeStatus(status, this.protocol.version));
    const outputs = [this.stdout, this.stderr, this.error].filter((output) => output !== undefined);
    for (const output of outputs) output.end();
    // Rejections mean that the client has disconnected.
    await Promise.allSettled(outputs.map((output) => finished(output, { readable: false })));
    this.session.close();
    await closed;
    clearTimeout(timer);
  }

  /** Reads a sequence of JSON texts, which are separated by lines or frames. */
  private readSizes(stream: SpdyStream | undefined): void {
    let text = '';
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}')) {
        const size = parseTerminalSize(text.slice(0, end + 1));
        text = text.slice(end + 1);
        if (!size) continue;
        this.size = size;
        this.resized?.(size);
      }
      if (text.length > sizeBytesMax) text = '';
    });
  }
}

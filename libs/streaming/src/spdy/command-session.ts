/** The server's side of a remote command over SPDY: one stream for each direction, told by a header. */
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

/** The longest size of a terminal, as text, that can come. */
const sizeBytesMax = 256;

/** Resolves when the client has opened every stream it asked for; rejects when it does not in time. */
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
      () => fail('the client did not open its streams in time'),
      streamCreationTimeoutMs,
    );
    session.once('close', () => fail('the client has gone'));
    session.on('stream', (stream) => {
      const type = stream.headers.streamtype as StreamType;
      if (!expected.includes(type) || streams.has(type)) {
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
  private readonly left = new AbortController();
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
    // The client ends its half of these at once; without a reader it would never be seen.
    for (const type of ['stdout', 'stderr', 'error'] as const) streams.get(type)?.resume();
    this.readSizes(streams.get('resize'));
    session.once('close', () => this.left.abort());
  }

  get gone(): AbortSignal {
    return this.left.signal;
  }

  onResize(listener: (size: TerminalSize) => void): void {
    this.resized = listener;
    if (this.size) listener(this.size);
  }

  async finish(status: CommandStatus): Promise<void> {
    if (this.left.signal.aborted) return;
    const closed = new Promise<void>((resolve) => this.session.once('close', () => resolve()));
    const cut = setTimeout(() => this.session.destroy(), closeTimeoutMs);
    this.stdin?.resume();
    this.error.end(encodeStatus(status, this.protocol.version));
    const outputs = [this.stdout, this.stderr, this.error].filter((one) => one !== undefined);
    for (const output of outputs) output.end();
    // Rejections are those of a client that has gone.
    await Promise.allSettled(outputs.map((output) => finished(output, { readable: false })));
    this.session.close();
    await closed;
    clearTimeout(cut);
  }

  /** One JSON text after the other, each on a line or in a frame of its own. */
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

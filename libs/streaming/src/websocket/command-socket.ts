/**
 * The server side of a remote command over a WebSocket. Invariant: at most `streamBufferBytesMax`
 * of standard input are buffered; while the buffer is full, nothing is read from the socket,
 * including terminal sizes. An invalid message closes the connection.
 */
import { Readable, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { closeTimeoutMs, dataFrameBytesMax, streamBufferBytesMax } from '../limits.js';
import type { CommandProtocol } from '../protocols.js';
import {
  type CommandRequest,
  type CommandStatus,
  type CommandStreams,
  encodeStatus,
  parseTerminalSize,
  type TerminalSize,
} from '../remote-command.js';
import {
  ChannelError,
  channels,
  closeChannel,
  decodeMessage,
  encodeMessage,
} from './channel-codec.js';
import { keepAlive } from './keep-alive.js';
import { bytesOf, sendMessage } from './messages.js';

export class CommandSocket implements CommandStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  private readonly disconnected = new AbortController();
  private inputHasEnded = false;
  private size: TerminalSize | undefined;
  private resized: ((size: TerminalSize) => void) | undefined;
  private readonly resetKeepAlive: () => void;

  constructor(
    private readonly socket: WebSocket,
    private readonly protocol: CommandProtocol,
    request: CommandRequest,
  ) {
    if (request.stdin) this.stdin = this.input();
    if (request.stdout) this.stdout = this.output(channels.stdout);
    if (request.stderr) this.stderr = this.output(channels.stderr);
    this.resetKeepAlive = keepAlive(socket, () => socket.isPaused);
    socket.on('message', (data) => this.receive(data));
    // The close event follows.
    socket.on('error', () => socket.terminate());
    socket.once('close', () => this.end());
    // Clients wait for the first message as a sign that the streams are open.
    const first = this.stdout ? channels.stdout : this.stderr ? channels.stderr : channels.error;
    socket.send(encodeMessage(first, Buffer.alloc(0), protocol.base64));
  }

  get closed(): AbortSignal {
    return this.disconnected.signal;
  }

  onResize(listener: (size: TerminalSize) => void): void {
    this.resized = listener;
    if (this.size) listener(this.size);
  }

  async finish(status: CommandStatus): Promise<void> {
    const { socket, protocol } = this;
    if (socket.readyState !== socket.OPEN) return;
    socket.resume();
    const text = encodeStatus(status, protocol.version);
    // A rejection means that the client has disconnected.
    await this.send(channels.error, text).catch(() => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const timer = setTimeout(() => socket.terminate(), closeTimeoutMs);
    socket.close(1000);
    await closed;
    clearTimeout(timer);
  }

  private input(): Readable {
    const { socket } = this;
    return new Readable({
      highWaterMark: streamBufferBytesMax,
      read: () => {
        if (socket.isPaused) socket.resume();
      },
      destroy: (_error, done) => {
        // Further input is discarded.
        if (socket.isPaused) socket.resume();
        done(null);
      },
    });
  }

  private output(channel: number): Writable {
    return new Writable({
      highWaterMark: dataFrameBytesMax,
      write: (chunk: Buffer, _encoding, done) => {
        this.send(channel, chunk).then(() => done(), done);
      },
    });
  }

  private send(channel: number, data: Buffer): Promise<void> {
    return sendMessage(this.socket, encodeMessage(channel, data, this.protocol.base64));
  }

  private receive(data: RawData): void {
    this.resetKeepAlive();
    try {
      const message = decodeMessage(bytesOf(data), this.protocol.base64);
      if (message) this.take(message.channel, message.data);
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      this.socket.close(1002, error.message);
    }
  }

  private take(channel: number, data: Buffer): void {
    const { stdin, socket } = this;
    if (channel === channels.stdin) {
      if (!stdin || stdin.destroyed || this.inputHasEnded || data.length === 0) return;
      if (!stdin.push(data)) socket.pause();
    } else if (channel === channels.resize) {
      const size = parseTerminalSize(data.toString('utf8'));
      if (!size) return;
      this.size = size;
      this.resized?.(size);
    } else if (channel === closeChannel && this.protocol.version >= 5) {
      if (data[0] === channels.stdin) this.endInput();
    }
  }

  private endInput(): void {
    this.inputHasEnded = true;
    if (this.stdin && !this.stdin.destroyed) this.stdin.push(null);
  }

  private end(): void {
    this.endInput();
    for (const output of [this.stdout, this.stderr]) output?.destroy();
    this.disconnected.abort();
  }
}

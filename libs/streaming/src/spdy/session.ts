/**
 * A SPDY/3.1 connection: streams multiplexed over one duplex. Upstream clients do not use
 * flow-control windows, so back-pressure applies to the whole connection: when the buffer of one
 * stream is full, reading stops until it drains. Invariant: invalid input affects only this
 * session.
 */
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { pingIntervalMs, silenceMsMax, streamsPerSessionMax } from '../limits.js';
import {
  type ControlFrame,
  controlFrame,
  dataFrameHead,
  FrameParser,
  flagFin,
  frameTypes,
  numbers,
  resetCodes,
  SpdyError,
  streamIdAt,
} from './frames.js';
import {
  formatHeaders,
  HeaderDeflater,
  HeaderInflater,
  parseHeaders,
  type StreamHeaders,
} from './headers.js';
import { SpdyStream, type StreamSession } from './stream.js';

export interface SpdyEvents {
  /** The peer has opened a stream, which is already accepted. */
  stream: [SpdyStream];
  /** The connection is closed; the error is undefined for an orderly close. */
  close: [Error | undefined];
}

const streamIdMax = 0x7fff_ffff;

type Side = 'client' | 'server';

/**
 * Returns the first id of a side. Ids of streams and pings are odd for clients and even for
 * servers.
 */
function firstId(side: Side): number {
  return side === 'client' ? 1 : 2;
}

export class SpdySession extends EventEmitter<SpdyEvents> implements StreamSession {
  private readonly streams = new Map<number, SpdyStream>();
  private readonly parser = new FrameParser();
  private readonly inflater = new HeaderInflater();
  private readonly deflater = new HeaderDeflater();
  private readonly waitingForDrain: (() => void)[] = [];
  private readonly pingTimer: NodeJS.Timeout;
  private nextId: number;
  private nextPingId: number;
  private lastPeerId = 0;
  private silentMs = 0;
  private isBlocked = false;
  private isClosed = false;

  /** `side` is the role of this end. */
  constructor(
    private readonly transport: Duplex,
    private readonly side: Side,
  ) {
    super();
    this.nextId = firstId(side);
    this.nextPingId = this.nextId;
    transport.on('drain', () => this.drained());
    this.pingTimer = setInterval(() => this.ping(), pingIntervalMs);
    this.pingTimer.unref();
    void this.run();
  }

  get streamCount(): number {
    return this.streams.size;
  }

  /** Opens a stream. Throws SpdyError if there are too many. */
  open(headers: StreamHeaders): SpdyStream {
    if (this.isClosed || this.streams.size >= streamsPerSessionMax || this.nextId > streamIdMax) {
      throw new SpdyError('no more streams can be opened');
    }
    const stream = new SpdyStream(this.nextId, headers, this);
    this.nextId += 2;
    this.streams.set(stream.id, stream);
    const block = this.deflater.deflate(formatHeaders(headers));
    const head = Buffer.concat([numbers(stream.id, 0), Buffer.alloc(2)]);
    this.send(controlFrame(frameTypes.synStream, 0, Buffer.concat([head, block])));
    return stream;
  }

  /** Sends a GOAWAY frame and closes the connection after all data is written. */
  close(): void {
    if (this.isClosed) return;
    this.send(controlFrame(frameTypes.goAway, 0, numbers(this.lastPeerId, 0)));
    this.transport.end();
  }

  destroy(): void {
    this.transport.destroy();
  }

  sendData(streamId: number, data: Buffer, fin: boolean, done: () => void): void {
    if (this.isClosed) {
      done();
      return;
    }
    this.transport.cork();
    let isWritable = this.transport.write(dataFrameHead(streamId, data.length, fin));
    if (data.length > 0) isWritable = this.transport.write(data);
    this.transport.uncork();
    if (isWritable) done();
    else this.waitingForDrain.push(done);
  }

  reset(streamId: number, code: number): void {
    this.send(controlFrame(frameTypes.rstStream, 0, numbers(streamId, code)));
  }

  closed(stream: SpdyStream): void {
    this.streams.delete(stream.id);
  }

  private send(frame: Buffer): void {
    if (!this.isClosed && this.transport.writable) this.transport.write(frame);
  }

  private drained(): void {
    for (const done of this.waitingForDrain.splice(0)) done();
  }

  private async run(): Promise<void> {
    let reason: Error | undefined;
    try {
      for await (const chunk of this.transport as AsyncIterable<Buffer>) {
        this.silentMs = 0;
        for (const frame of this.parser.push(chunk)) {
          const wait =
            frame.kind === 'data'
              ? this.takeData(frame.streamId, frame.data, frame.fin)
              : this.takeControl(frame);
          if (!wait) continue;
          this.isBlocked = true;
          await wait;
          this.isBlocked = false;
        }
      }
    } catch (error) {
      reason = error instanceof Error ? error : new Error(String(error));
    }
    this.finish(reason);
  }

  private finish(reason: Error | undefined): void {
    if (reason instanceof SpdyError) {
      const code = numbers(this.lastPeerId, resetCodes.protocolError);
      this.send(controlFrame(frameTypes.goAway, 0, code));
    }
    this.isClosed = true;
    clearInterval(this.pingTimer);
    this.inflater.close();
    for (const stream of [...this.streams.values()]) stream.abort('the connection is closed');
    this.drained();
    if (!this.transport.destroyed) this.transport.destroy();
    this.emit('close', reason);
  }

  private takeData(streamId: number, data: Buffer, fin: boolean): Promise<void> | undefined {
    const stream = this.streams.get(streamId);
    if (stream) return stream.receive(data, fin);
    // The stream may have been closed in the meantime.
    if (fin || data.length > 0) this.reset(streamId, resetCodes.invalidStream);
    return undefined;
  }

  private takeControl(frame: ControlFrame): Promise<void> | undefined {
    const { type, payload } = frame;
    switch (type) {
      case frameTypes.synStream:
        return this.opened(frame);
      case frameTypes.synReply:
      case frameTypes.headers:
        return this.moreHeaders(frame);
      case frameTypes.rstStream:
        this.streams.get(streamIdAt(payload))?.abort('the peer has reset the stream');
        return undefined;
      case frameTypes.ping:
        this.pinged(payload);
        return undefined;
      default:
        // Settings, window updates, GOAWAY and unknown frames are ignored.
        return undefined;
    }
  }

  /**
   * Handles a new stream. The inflater must process every header block, also of rejected streams.
   */
  private async opened({ payload, flags }: ControlFrame): Promise<void> {
    const streamId = streamIdAt(payload);
    if (payload.length < 10) throw new SpdyError('a control frame is too short');
    const headers = parseHeaders(await this.inflater.inflate(payload.subarray(10)));
    const isPeerId = streamId % 2 === (this.side === 'server' ? 1 : 0);
    if (!isPeerId || streamId <= this.lastPeerId) {
      throw new SpdyError(`stream ${streamId} has an invalid id`);
    }
    this.lastPeerId = streamId;
    if (this.streams.size >= streamsPerSessionMax || this.listenerCount('stream') === 0) {
      this.reset(streamId, resetCodes.refusedStream);
      return;
    }
    const stream = new SpdyStream(streamId, headers, this);
    this.streams.set(streamId, stream);
    const block = this.deflater.deflate(formatHeaders({}));
    this.send(controlFrame(frameTypes.synReply, 0, Buffer.concat([numbers(streamId), block])));
    if ((flags & flagFin) !== 0) void stream.receive(Buffer.alloc(0), true);
    this.emit('stream', stream);
  }

  private async moreHeaders({ payload, flags }: ControlFrame): Promise<void> {
    const stream = this.streams.get(streamIdAt(payload));
    await this.inflater.inflate(payload.subarray(4));
    if ((flags & flagFin) !== 0) void stream?.receive(Buffer.alloc(0), true);
  }

  private pinged(payload: Buffer): void {
    if (payload.length < 4) throw new SpdyError('a control frame is too short');
    const pingId = payload.readUInt32BE(0);
    if (pingId % 2 !== this.nextPingId % 2) {
      this.send(controlFrame(frameTypes.ping, 0, numbers(pingId)));
    }
  }

  private ping(): void {
    // While reading is blocked, a dead connection is detected by failing writes only.
    this.silentMs = this.isBlocked ? 0 : this.silentMs + pingIntervalMs;
    if (this.silentMs > silenceMsMax) {
      this.destroy();
      return;
    }
    this.send(controlFrame(frameTypes.ping, 0, numbers(this.nextPingId)));
    this.nextPingId = this.nextPingId + 2 > streamIdMax ? firstId(this.side) : this.nextPingId + 2;
  }
}

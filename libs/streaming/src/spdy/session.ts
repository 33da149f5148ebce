/**
 * A SPDY/3.1 connection: streams over one duplex of bytes. Clients of the interface neither grant nor
 * heed windows, so the bytes of a stream wait for nothing but the connection: when the reader of one
 * stream is full, nothing more is read until it goes on. Invariant: whatever the other side sends ends
 * at worst this session.
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
  /** The other side has opened a stream; it is accepted already. */
  stream: [SpdyStream];
  /** The connection is gone, for this reason if it was not orderly. */
  close: [Error | undefined];
}

const streamIdMax = 0x7fff_ffff;

type Side = 'client' | 'server';

/** Ids of the two sides, for streams and pings alike, never meet. */
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

  /** `side`: of this end. */
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

  /** Opens a stream. Throws SpdyError when there are too many. */
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

  /** Says that it is over and ends the connection once all is written. */
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
    let goesOn = this.transport.write(dataFrameHead(streamId, data.length, fin));
    if (data.length > 0) goesOn = this.transport.write(data);
    this.transport.uncork();
    if (goesOn) done();
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
      reason = error as Error;
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
    for (const stream of [...this.streams.values()]) stream.cutOff('the connection is gone');
    this.drained();
    if (!this.transport.destroyed) this.transport.destroy();
    this.emit('close', reason);
  }

  private takeData(streamId: number, data: Buffer, fin: boolean): Promise<void> | undefined {
    const stream = this.streams.get(streamId);
    if (stream) return stream.receive(data, fin);
    // It may have been given up a moment ago.
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
        this.streams.get(streamIdAt(payload))?.cutOff('the other side has reset the stream');
        return undefined;
      case frameTypes.ping:
        this.pinged(payload);
        return undefined;
      default:
        // Settings, windows, farewells and what is not known: nothing follows from them.
        return undefined;
    }
  }

  /** Blocks must all go through the inflater, those of streams that are refused too. */
  private async opened({ payload, flags }: ControlFrame): Promise<void> {
    const streamId = streamIdAt(payload);
    if (payload.length < 10) throw new SpdyError('a control frame is too short');
    const headers = parseHeaders(await this.inflater.inflate(payload.subarray(10)));
    const isTheirs = streamId % 2 === (this.side === 'server' ? 1 : 0);
    if (!isTheirs || streamId <= this.lastPeerId) {
      throw new SpdyError(`stream ${streamId} cannot be opened`);
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
    // What is not read cannot be heard: a connection that is gone fails on what is written to it.
    this.silentMs = this.isBlocked ? 0 : this.silentMs + pingIntervalMs;
    if (this.silentMs > silenceMsMax) {
      this.destroy();
      return;
    }
    this.send(controlFrame(frameTypes.ping, 0, numbers(this.nextPingId)));
    this.nextPingId = this.nextPingId + 2 > streamIdMax ? firstId(this.side) : this.nextPingId + 2;
  }
}

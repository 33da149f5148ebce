/** Streams of pods: SPDY frames and header blocks, and WebSocket messages of a client. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import {
  type CommandProtocol,
  CommandSocket,
  commandStreams,
  decodeMessage,
  encodeMessage,
  SpdySession,
  serveForwardSession,
  serveForwardSocket,
} from '@orch/streaming';
import fc from 'fast-check';
import type { WebSocket } from 'ws';
import { parseTerminalSize } from '../../../libs/streaming/src/remote-command.js';
import {
  controlFrame,
  dataFrameHead,
  FrameParser,
  numbers,
  SpdyError,
} from '../../../libs/streaming/src/spdy/frames.js';
import {
  formatHeaders,
  HeaderDeflater,
  parseHeaders,
} from '../../../libs/streaming/src/spdy/headers.js';
import { ChannelError } from '../../../libs/streaming/src/websocket/channel-codec.js';
import { damagedBytes, inPieces } from '../inputs/bytes.js';
import { hostileJson, jsonText } from '../inputs/json.js';
import { hostileText, inheritedNames } from '../inputs/text.js';
import { asyncTarget, cheap, decodedOrRefused, type Target, target } from '../target.js';

const bytes = fc.uint8Array({ maxLength: 40 }).map((all) => Buffer.from(all));
const streamId = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(1, 3, 5, 7) },
  fc.nat(0x7fff_ffff),
);

const headerName = fc.constantFrom('streamtype', 'port', 'requestid', 'x', '', ...inheritedNames);
const headerValue = fc.oneof(
  fc.constantFrom('error', 'data', 'stdin', 'stdout', 'stderr', 'resize', '80', '0', '1'),
  hostileText.map((text) => text.slice(0, 200)),
);
const headers = fc
  .array(fc.tuple(headerName, headerValue), { maxLength: 5 })
  .map((all) => formatHeaders(Object.fromEntries(all)));

type Step = (deflater: HeaderDeflater) => Buffer;

const flags = fc.constantFrom(0, 0, 1, 2, 255);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(streamId, flags, damagedBytes(headers))
    .map(([id, flag, block]) => (deflater: HeaderDeflater) => {
      const payload = [numbers(id, 0), Buffer.alloc(2), deflater.deflate(block)];
      return controlFrame(1, flag, Buffer.concat(payload));
    }),
  fc.tuple(streamId, flags, headers).map(
    ([id, flag, block]) =>
      (deflater: HeaderDeflater) =>
        controlFrame(8, flag, Buffer.concat([numbers(id), deflater.deflate(block)])),
  ),
  fc.tuple(streamId, fc.boolean(), bytes).map(
    ([id, fin, data]) =>
      () =>
        Buffer.concat([dataFrameHead(id, data.length, fin), data]),
  ),
  fc.tuple(fc.nat(20), flags, bytes).map(
    ([type, flag, payload]) =>
      () =>
        controlFrame(type, flag, payload),
  ),
  fc.tuple(streamId, fc.nat(12)).map(
    ([id, code]) =>
      () =>
        controlFrame(3, 0, numbers(id, code)),
  ),
);

const conversation = damagedBytes(
  fc.array(step, { maxLength: 8 }).map((steps) => {
    const deflater = new HeaderDeflater();
    return Buffer.concat(steps.map((make) => make(deflater)));
  }),
);

const places = fc.array(fc.nat(600), { maxLength: 4 });

const frames = target(
  'spdy-frames',
  fc.tuple(conversation, places, damagedBytes(headers)),
  ([all, cuts, block]) => {
    const parser = new FrameParser();
    decodedOrRefused(() => {
      for (const piece of inPieces(all, cuts)) for (const frame of parser.push(piece)) void frame;
    }, SpdyError);
    const read = decodedOrRefused(() => parseHeaders(block), SpdyError);
    if (read) assert.deepEqual({ ...parseHeaders(formatHeaders(read)) }, { ...read });
  },
);

/** A connection whose peer sends these bytes and closes it; written bytes are dropped. */
class Connection extends Duplex {
  constructor(pieces: readonly Buffer[]) {
    super();
    for (const piece of pieces) if (piece.length > 0) this.push(piece);
    this.push(null);
  }

  override _read(): void {
    // All bytes are available at the start.
  }

  override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

const everything = { stdin: true, stdout: true, stderr: false, tty: true };

/** Uncaught errors during an input, which would end the process. */
let uncaught: unknown[] = [];
const note = (error: unknown): void => {
  uncaught.push(error);
};

/** Waits until no operation is in flight. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
}

function checkUncaught(): void {
  const [first] = uncaught;
  uncaught = [];
  if (first !== undefined) throw first;
}

async function noteUncaught(): Promise<() => Promise<void>> {
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  return async () => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  };
}

const protocols: readonly CommandProtocol[] = [
  { name: 'v5', version: 5, base64: false },
  { name: 'v4', version: 4, base64: false },
  { name: 'v1.base64', version: 1, base64: true },
];

const sessions = asyncTarget(
  'spdy-sessions',
  fc.record({ all: conversation, cuts: places, forwards: fc.boolean() }),
  async ({ all, cuts, forwards }) => {
    const session = new SpdySession(new Connection(inPieces(all, cuts)), 'server');
    const closed = new Promise<Error | undefined>((resolve) => session.once('close', resolve));
    if (forwards) {
      void serveForwardSession(session, async ({ data }) => {
        data.resume();
        throw new Error('connection refused');
      });
    } else {
      const streams = commandStreams(session, protocols[1]!, everything);
      streams.then(
        ({ stdin }) => stdin?.resume(),
        () => undefined, // the client closed it before the streams were open
      );
    }
    const reason = await closed;
    await settled();
    assert.ok(reason === undefined || reason instanceof SpdyError, String(reason?.stack));
    assert.equal(session.streamCount, 0);
    checkUncaught();
  },
  { open: noteUncaught, share: 0.3 },
);

/** The part of a WebSocket that the server uses, without a peer. */
class Socket extends EventEmitter {
  readyState = 1;
  isPaused = false;

  /** Named by the interface of WebSocket. */
  get OPEN(): number {
    return 1;
  }

  send(_message: unknown, done?: (error?: Error) => void): void {
    done?.();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  ping(): void {
    // There is no peer to reply.
  }

  close(): void {
    if (this.readyState !== 1) return;
    this.readyState = 3;
    this.emit('close');
  }

  terminate(): void {
    this.close();
  }
}

const channel = fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 255, 255);
const size = fc.oneof(
  fc.constantFrom('{"Width":80,"Height":24}', '{"Width":-1,"Height":1e9}', 'null'),
  hostileJson.map((value) => jsonText(value)),
);
const content = fc.oneof(
  bytes,
  fc.constant(Buffer.of(0)),
  size.map((text) => Buffer.from(text)),
);
/** The message that ends the client's input. */
const ending = fc.constant<[number, Buffer]>([255, Buffer.of(0)]);
const spoken = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(channel, content) },
  { weight: 1, arbitrary: ending },
);

/** Messages, most of them valid. */
function messageIn(base64: boolean): fc.Arbitrary<Buffer> {
  const right = spoken.map(([number, data]) => Buffer.from(encodeMessage(number, data, base64)));
  return fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: damagedBytes(right) });
}

const conversationOverSocket = fc.constantFrom(...protocols).chain((protocol) =>
  fc.record({
    protocol: fc.constant(protocol),
    messages: fc.array(messageIn(protocol.base64), { maxLength: 10 }),
    forwards: fc.boolean(),
    reads: fc.boolean(),
  }),
);

const sockets = asyncTarget(
  'web-sockets',
  conversationOverSocket,
  async ({ messages, protocol, forwards, reads }) => {
    const socket = new Socket();
    const asSocket = socket as unknown as WebSocket;
    let ended: Promise<void> | undefined;
    if (forwards) {
      ended = serveForwardSocket(asSocket, protocol, [80, 81], async ({ data }, signal) => {
        if (reads) data.resume();
        if (signal.aborted) return;
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      });
    } else {
      const streams = new CommandSocket(asSocket, protocol, everything);
      streams.onResize(({ columns, rows }) => assert.ok(columns > 0 && rows > 0));
      if (reads) streams.stdin?.resume();
    }
    for (const one of messages) {
      if (socket.readyState === 1) socket.emit('message', one);
      await new Promise((resolve) => process.nextTick(resolve));
    }
    await settled();
    socket.close();
    await ended;
    await settled();
    checkUncaught();
  },
  { open: noteUncaught, share: 0.3 },
);

const messages = target(
  'channel-messages',
  fc.tuple(fc.boolean().chain(messageIn), fc.boolean(), size),
  ([one, base64, text]) => {
    const read = decodedOrRefused(() => decodeMessage(one, base64), ChannelError);
    if (read && (!base64 || read.channel < 10)) {
      const again = Buffer.from(encodeMessage(read.channel, read.data, base64));
      assert.deepEqual(decodeMessage(again, base64), read);
    }
    const terminal = parseTerminalSize(text);
    assert.ok(!terminal || (terminal.columns > 0 && terminal.rows > 0));
  },
);

export const streamTargets: readonly Target[] = [sessions, sockets, ...cheap([frames, messages])];

/**
 * The transport of a watch's events: the chunks of an HTTP/1.1 response, the body of an HTTP/2
 * response, or the messages of a WebSocket.
 */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { keepAlive } from '@orch/streaming';
import type { WebSocket } from 'ws';
import type { RequestContext } from '../http/request-context.js';
import { watchDrainTimeoutMs } from '../limits.js';

/** Why a watch ended. */
export type EndReason = 'client' | 'timeout' | 'slow' | 'stopped' | 'expired';

/**
 * The framing of an event: `chunk` includes the frame of chunked transfer, so that watchers share
 * the framed bytes; `body` separates events within the body; `message` adds nothing.
 */
export type EventFraming = 'chunk' | 'body' | 'message';

/** Joins pieces once for all channels that have the same ones to send. */
export interface Joiner {
  join(pieces: readonly Buffer[]): Buffer;
}

export interface WatchChannel {
  readonly framing: EventFraming;
  /** False: nothing more should be written before it has drained. */
  write(pieces: readonly Buffer[], joiner: Joiner): boolean;
  /** Bytes that have not left. */
  waiting(): number;
  /** Returns how to stop listening. */
  onDrain(listener: () => void): () => void;
  onClose(listener: () => void): void;
  /** After the last event. */
  end(reason: EndReason): void;
}

/** The channel of a response whose head has been sent. */
export function responseChannel({ request, response }: RequestContext): WatchChannel {
  const socket: Socket | null = response.socket;
  const framed = request.httpVersion === '1.1' && socket !== null;
  const sink = framed ? socket : response;
  const write: (bytes: Buffer) => boolean = sink.write.bind(sink);
  return {
    framing: framed ? 'chunk' : 'body',
    write: (pieces, joiner) => write(joiner.join(pieces)),
    waiting: () => sink.writableLength,
    onDrain(listener) {
      sink.on('drain', listener);
      return () => sink.removeListener('drain', listener);
    },
    onClose: (listener) => response.once('close', listener),
    end() {
      response.end();
      // A client that reads nothing would hold the connection and its unsent bytes forever.
      const timer = setTimeout(() => response.destroy(), watchDrainTimeoutMs);
      response.once('close', () => clearTimeout(timer));
    },
  };
}

const closeNormal = 1000;
const closeGoingAway = 1001;

/** `transport`: the connection of the WebSocket. Messages of the client are ignored. */
export function webSocketChannel(
  webSocket: WebSocket,
  transport: Duplex,
  binary: boolean,
): WatchChannel {
  // A client that has not read the sent bytes cannot respond to a ping.
  const heard = keepAlive(webSocket, () => transport.writableNeedDrain);
  webSocket.on('message', heard);
  // The close event follows, so the error needs no handling.
  webSocket.on('error', () => webSocket.terminate());
  return {
    framing: 'message',
    write(pieces) {
      for (const piece of pieces) webSocket.send(piece, { binary });
      return !transport.writableNeedDrain;
    },
    waiting: () => transport.writableLength,
    onDrain(listener) {
      transport.on('drain', listener);
      return () => transport.removeListener('drain', listener);
    },
    onClose: (listener) => webSocket.once('close', listener),
    end: (reason) => webSocket.close(reason === 'stopped' ? closeGoingAway : closeNormal),
  };
}

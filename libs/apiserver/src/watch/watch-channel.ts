/**
 * Where the events of a watch leave: the chunks of an answer over HTTP/1.1, the body of one over HTTP/2,
 * or a WebSocket, where each event is a message of its own.
 */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { keepAlive } from '@orch/streaming';
import type { WebSocket } from 'ws';
import type { Exchange } from '../response/exchange.js';

/** Why a watch ended. */
export type EndReason = 'client' | 'timeout' | 'slow' | 'stopped' | 'expired';

/**
 * What an event has around it: `chunk` the frame of chunked transfer, which is then part of the bytes that
 * watchers share; `body` nothing but what tells it from the next; `message` nothing at all.
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

/** The channel of an answer whose head has been sent. */
export function responseChannel({ request, response }: Exchange): WatchChannel {
  const socket = response.socket as Socket | null;
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
    end: () => response.end(),
  };
}

const closeNormal = 1000;
const closeGoingAway = 1001;

/** `transport`: what the WebSocket is spoken on. Whatever the client says is dropped. */
export function webSocketChannel(
  webSocket: WebSocket,
  transport: Duplex,
  binary: boolean,
): WatchChannel {
  // A client that has yet to take what was sent cannot answer.
  const heard = keepAlive(webSocket, () => transport.writableNeedDrain);
  webSocket.on('message', heard);
  // Its end follows; there is nobody to tell.
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

/**
 * The server side of port-forward over a WebSocket: one connection per port, with a data channel
 * and an error channel. Each channel begins with its port number, least significant byte first. The
 * protocol cannot end one direction: a connection ends with the socket.
 */
import { Duplex, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Forward } from '../forwarding.js';
import { closeTimeoutMs, dataFrameBytesMax, streamBufferBytesMax } from '../limits.js';
import type { CommandProtocol } from '../protocols.js';
import { ChannelError, decodeMessage, encodeMessage } from './channel-codec.js';
import { keepAlive } from './keep-alive.js';
import { bytesOf, sendMessage } from './messages.js';

/** Serves the ports. Resolves when every connection has ended and the socket is closed. */
export async function serveForwardSocket(
  socket: WebSocket,
  protocol: CommandProtocol,
  ports: readonly number[],
  forward: Forward,
): Promise<void> {
  const disconnected = new AbortController();
  const resetKeepAlive = keepAlive(socket, () => socket.isPaused);
  const send = (channel: number, data: Buffer) =>
    sendMessage(socket, encodeMessage(channel, data, protocol.base64));
  const connections = ports.map((_port, index) =>
    dataStream(socket, (data) => send(index * 2, data)),
  );
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      disconnected.abort();
      for (const connection of connections) connection.destroy();
      resolve();
    });
  });
  // The close event follows.
  socket.on('error', () => socket.terminate());
  socket.on('message', (data) => {
    resetKeepAlive();
    receive(socket, protocol, connections, data);
  });
  const work = ports.map(async (port, index) => {
    const number = Buffer.of(port & 0xff, port >> 8);
    await send(index * 2, number);
    await send(index * 2 + 1, number);
    const error = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        send(index * 2 + 1, chunk).then(() => done(), done);
      },
    });
    const data = connections[index]!;
    await forward({ port, data, error }, disconnected.signal).catch((cause: Error) =>
      send(index * 2 + 1, Buffer.from(cause.message)),
    );
    data.destroy();
  });
  await Promise.allSettled(work);
  if (socket.readyState === socket.OPEN) socket.close(1000);
  const timer = setTimeout(() => socket.terminate(), closeTimeoutMs);
  await closed;
  clearTimeout(timer);
}

function dataStream(socket: WebSocket, send: (data: Buffer) => Promise<void>): Duplex {
  const resume = () => {
    if (socket.isPaused) socket.resume();
  };
  const stream = new Duplex({
    readableHighWaterMark: streamBufferBytesMax,
    writableHighWaterMark: dataFrameBytesMax,
    read: resume,
    write: (chunk: Buffer, _encoding, done) => {
      send(chunk).then(() => done(), done);
    },
    destroy: (_error, done) => {
      resume();
      done(null);
    },
  });
  // Errors mean that the socket was closed during a write.
  stream.on('error', () => undefined);
  return stream;
}

function receive(
  socket: WebSocket,
  protocol: CommandProtocol,
  connections: readonly Duplex[],
  data: RawData,
): void {
  try {
    const message = decodeMessage(bytesOf(data), protocol.base64);
    if (!message || message.channel % 2 !== 0) return;
    const connection = connections[message.channel / 2];
    if (!connection || connection.destroyed || message.data.length === 0) return;
    if (!connection.push(message.data)) socket.pause();
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    socket.close(1002, error.message);
  }
}

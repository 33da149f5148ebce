/**
 * The listening side: takes the calls of peers over mutual TLS and hands them on. Nothing is
 * decided here but whether a connection has a certificate of ours.
 */
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import {
  Server,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { Logger } from '@orch/component';
import type { FrameListener } from '../frame-network.js';
import { receiveWindowBytes } from '../limits.js';
import { errorText, TransportError } from '../transport-error.js';
import { peersService, serverOptions } from './grpc-service.js';
import { addressOf } from './peer-address.js';
import type { PeerServerCredentials } from './tls-credentials.js';

export class GrpcListener {
  private server: Server | undefined;
  /** gRPC loses sight of them. */
  private readonly sessions = new Set<ServerHttp2Session>();

  constructor(private readonly logger: Logger) {}

  /** Resolves with the port. Rejects with TransportError `BadAddress`. */
  async listen(
    listenUrl: string,
    credentials: PeerServerCredentials,
    listener: FrameListener,
  ): Promise<number> {
    const server = new Server(serverOptions);
    server.addService(peersService, {
      exchange: (call: ServerDuplexStream<Buffer, Buffer>) => accept(call, listener),
      sendSnapshot: (call: ServerReadableStream<Buffer, Buffer>, callback: sendUnaryData<Buffer>) =>
        reply(listener.snapshot(call[Symbol.asyncIterator]()), callback),
      status: unary((frame) => listener.answer('status', frame)),
      operate: unary((frame) => listener.answer('operate', frame)),
    });
    const address = addressOf(listenUrl);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(address, credentials, (error, bound) => {
        if (!error) {
          resolve(bound);
          return;
        }
        server.forceShutdown();
        reject(
          new TransportError(
            'BadAddress',
            `cannot listen for peers at ${listenUrl} (${error.message}): choose an address of this machine and a free port`,
            { cause: error },
          ),
        );
      });
    });
    this.server = server;
    for (const listening of listeningServers(server)) this.tune(listening);
    return port;
  }

  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
    for (const session of this.sessions) session.destroy();
  }

  private tune(server: Http2SecureServer): void {
    server.on('session', (session: ServerHttp2Session) => {
      // The window of each call is a setting; that of the connection must be opened by hand,
      // otherwise it admits 64 KiB and waits for the reader.
      session.setLocalWindowSize(receiveWindowBytes);
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      const { authorizationError, remoteAddress: address } = socket;
      if (!authorizationError && error.code === 'ECONNRESET') {
        // A port check, or a peer that connected twice or ended: nothing was refused.
        this.logger.debug({ address }, 'a connection to the peer port ended before it was set up');
        return;
      }
      const reason = String(authorizationError ?? error.message);
      this.logger.warn({ address, reason }, 'refused a connection to the peer port');
    });
  }
}

/** gRPC keeps them to itself. Throws when a newer version keeps them elsewhere. */
function listeningServers(server: Server): Http2SecureServer[] {
  const kept: unknown = Reflect.get(server, 'http2Servers');
  if (!(kept instanceof Map) || kept.size === 0) {
    throw new Error('this version of gRPC keeps its HTTP/2 servers elsewhere');
  }
  return [...(kept as Map<Http2SecureServer, unknown>).keys()];
}

function accept(call: ServerDuplexStream<Buffer, Buffer>, listener: FrameListener): void {
  const events = listener.accept({
    write: (frame, left) => {
      call.write(frame, left);
    },
    pause: () => call.pause(),
    resume: () => call.resume(),
    end: () => call.end(),
    destroy: (reason) => call.emit('error', { code: status.ABORTED, details: reason }),
  });
  call.on('data', (frame: Buffer) => events.frame(frame));
  call.on('end', () => events.closed('the peer ended the call'));
  call.on('cancelled', () => events.closed('the peer is gone'));
  call.on('error', (error: Error) => events.closed(error.message));
}

function unary(answer: (frame: Buffer) => Promise<Buffer>) {
  return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void =>
    reply(answer(call.request), callback);
}

function reply(answer: Promise<Buffer>, callback: sendUnaryData<Buffer>): void {
  answer.then(
    (frame) => callback(null, frame),
    (error: unknown) => callback({ code: status.FAILED_PRECONDITION, details: errorText(error) }),
  );
}

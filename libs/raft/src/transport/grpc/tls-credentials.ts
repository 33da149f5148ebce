/**
 * Mutual TLS for gRPC. The credentials of gRPC read certificates once, have no handshake deadline,
 * do not expose their sockets and send addresses as server names, which Node rejects; here each
 * connection uses the certificates of that moment and ends within `timeoutMs` if the peer does not
 * respond, or when `destroy` is called.
 */
import type { Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import {
  CallCredentials,
  ChannelCredentials,
  type ChannelOptions,
  experimental,
  ServerCredentials,
} from '@grpc/grpc-js';
import { expectingName } from '@orch/component';
import { callsPerConnectionMax, greetingTimeoutMs, receiveWindowBytes } from '../limits.js';
import { type CertificateSet, tlsSettings } from './peer-certificates.js';

/** Credentials of the client side. One for each channel. */
export class TlsChannelCredentials extends ChannelCredentials {
  private readonly sockets = new Set<Socket>();
  private destroyed = false;

  constructor(
    private readonly secureContext: () => SecureContext,
    private readonly timeoutMs: number,
  ) {
    super();
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    target: experimental.GrpcUri,
    _options: ChannelOptions,
    callCredentials?: CallCredentials,
  ): experimental.SecureConnector {
    const host = experimental.splitHostPort(target.path)?.host ?? target.path;
    return {
      connect: (socket) => this.handshake(socket, host),
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials ?? CallCredentials.createEmpty(),
      destroy: () => undefined,
    };
  }

  /** Ends every connection immediately, also those in handshake. */
  destroy(): void {
    this.destroyed = true;
    for (const socket of this.sockets) socket.destroy();
  }

  private handshake(socket: Socket, host: string): Promise<experimental.SecureConnectResult> {
    return new Promise((resolve, reject) => {
      if (this.destroyed) {
        socket.destroy();
        reject(new Error('no longer wanted'));
        return;
      }
      const secured = connectTls({
        socket,
        secureContext: this.secureContext(),
        host,
        ...expectingName(host),
        ALPNProtocols: ['h2'],
      });
      const timer = setTimeout(() => {
        secured.destroy(new Error('the peer did not finish the TLS handshake in time'));
      }, this.timeoutMs);
      timer.unref();
      this.sockets.add(secured);
      const fail = (error: Error) => reject(error);
      secured.once('error', fail);
      secured.once('close', () => {
        clearTimeout(timer);
        this.sockets.delete(secured);
        reject(new Error('the peer closed the connection during the TLS handshake'));
      });
      secured.once('secureConnect', () => {
        clearTimeout(timer);
        secured.removeListener('error', fail);
        resolve({ socket: secured, secure: true });
      });
    });
  }
}

/** Credentials of the server side: every client must have a certificate of the authorities. */
export class PeerServerCredentials extends ServerCredentials {
  constructor(certificates: CertificateSet) {
    super(
      {
        requestCert: true,
        rejectUnauthorized: true,
        handshakeTimeout: greetingTimeoutMs,
        settings: {
          initialWindowSize: receiveWindowBytes,
          maxConcurrentStreams: callsPerConnectionMax,
        },
      },
      contextOptions(certificates),
    );
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }

  /** For connections from now on. */
  replace(certificates: CertificateSet): void {
    this.updateSecureContextOptions(contextOptions(certificates));
  }
}

function contextOptions({ cert, key, ca }: CertificateSet) {
  return { ...tlsSettings, cert, key, ca };
}

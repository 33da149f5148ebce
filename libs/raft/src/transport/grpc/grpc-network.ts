/**
 * Frames over gRPC. Every outgoing call has a connection of its own, made with the certificates of
 * that moment and gone with the call: no call waits behind another, and nothing is tried again
 * behind our back.
 */
import { logVerbosity, type ServiceError, setLogVerbosity } from '@grpc/grpc-js';
import type { Clock, Logger, Timer } from '@orch/component';
import type {
  ChannelEvents,
  FrameChannel,
  FrameListener,
  FrameNetwork,
  FrameSink,
  RequestKind,
} from '../frame-network.js';
import { TransportError } from '../transport-error.js';
import { GrpcListener } from './grpc-listener.js';
import {
  asIs,
  callError,
  connectPeer,
  type PeerConnection,
  peersService,
  reasonOf,
} from './grpc-service.js';
import { GrpcSink } from './grpc-sink.js';
import { type CertificateFiles, PeerCertificates } from './peer-certificates.js';
import { PeerServerCredentials } from './tls-credentials.js';

export interface GrpcNetworkOptions {
  readonly listenUrl: string;
  readonly certificates: CertificateFiles;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class GrpcNetwork implements FrameNetwork {
  private readonly certificates: PeerCertificates;
  private readonly listener: GrpcListener;
  private readonly connections = new Set<PeerConnection>();
  private boundPort = 0;

  constructor(private readonly options: GrpcNetworkOptions) {
    const { certificates, clock, logger } = options;
    this.certificates = new PeerCertificates(certificates, clock, logger);
    this.listener = new GrpcListener(logger);
    // gRPC bypasses the logger to print errors that callers get anyway.
    setLogVerbosity(logVerbosity.NONE);
  }

  get port(): number {
    return this.boundPort;
  }

  prepare(): Promise<void> {
    return this.certificates.load();
  }

  async listen(listener: FrameListener): Promise<void> {
    const credentials = new PeerServerCredentials(this.certificates.current);
    this.boundPort = await this.listener.listen(this.options.listenUrl, credentials, listener);
    this.certificates.watch((current) => credentials.replace(current));
  }

  open(peerUrl: string, events: ChannelEvents): FrameChannel {
    const connection = this.connect(peerUrl);
    const call = connection.client.makeBidiStreamRequest(peersService.exchange.path, asIs, asIs);
    const closed = (reason: string) => {
      connection.close();
      events.closed(reason);
    };
    call.on('data', (frame: Buffer) => events.frame(frame));
    call.on('error', (error: ServiceError) => closed(reasonOf(error)));
    call.on('end', () => closed('the peer ended the call'));
    return {
      write: (frame, left) => {
        call.write(frame, left);
      },
      pause: () => call.pause(),
      resume: () => call.resume(),
      end: () => call.end(),
      destroy: () => {
        call.cancel();
        connection.close();
      },
    };
  }

  openSnapshot(peerUrl: string): FrameSink {
    return new GrpcSink(this.connect(peerUrl), peerUrl);
  }

  async ask(peerUrl: string, kind: RequestKind, frame: Buffer, timeoutMs: number): Promise<Buffer> {
    const connection = this.connect(peerUrl);
    const { path } = peersService[kind];
    const { clock } = this.options;
    let timer: Timer | undefined;
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const text = `${peerUrl} did not respond in time`;
        timer = clock.setTimer(timeoutMs, () =>
          reject(new TransportError('DeadlineExceeded', text)),
        );
        const answered = (error: ServiceError | null, reply?: Buffer) => {
          if (reply) resolve(reply);
          else reject(callError(peerUrl, error));
        };
        connection.client.makeUnaryRequest(path, asIs, asIs, frame, answered);
      });
    } finally {
      timer?.cancel();
      connection.close();
    }
  }

  async stop(): Promise<void> {
    this.certificates.stop();
    for (const connection of this.connections) connection.close();
    this.listener.stop();
  }

  private connect(peerUrl: string): PeerConnection {
    const certificates = () => this.certificates.current;
    const connection = connectPeer(peerUrl, certificates, () =>
      this.connections.delete(connection),
    );
    this.connections.add(connection);
    return connection;
  }
}

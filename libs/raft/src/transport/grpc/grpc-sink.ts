/** A snapshot on its way out over gRPC. A frame has left when HTTP/2's windows let all of it go. */
import { type ClientWritableStream, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { FrameSink } from '../frame-network.js';
import { asIs, callError, type PeerConnection, peersService } from './grpc-service.js';

export class GrpcSink implements FrameSink {
  readonly reply: Promise<Buffer>;
  private call!: ClientWritableStream<Buffer>;
  /** Ends the wait of the writer. */
  private left: () => void = () => undefined;
  private isBroken = false;

  constructor(
    private readonly connection: PeerConnection,
    peerUrl: string,
  ) {
    this.reply = new Promise((resolve, reject) => {
      this.call = connection.client.makeClientStreamRequest(
        peersService.sendSnapshot.path,
        asIs,
        asIs,
        new Metadata(),
        {},
        (error: ServiceError | null, frame?: Buffer) => {
          this.break();
          if (frame) resolve(frame);
          else reject(callError(peerUrl, error));
        },
      );
    });
  }

  write(frame: Buffer): Promise<void> {
    if (this.isBroken) return Promise.resolve();
    return new Promise((resolve) => {
      this.left = resolve;
      this.call.write(frame, () => resolve());
    });
  }

  end(): void {
    if (!this.isBroken) this.call.end();
  }

  destroy(): void {
    this.break();
    this.call.cancel();
    this.connection.close();
  }

  private break(): void {
    this.isBroken = true;
    this.left();
  }
}

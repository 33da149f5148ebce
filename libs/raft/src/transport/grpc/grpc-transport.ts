/** The network between replicas as production has it: gRPC over mutual TLS. */

import { PeerTransport, type PeerTransportOptions } from '../peer/peer-transport.js';
import { GrpcNetwork } from './grpc-network.js';
import type { CertificateFiles } from './peer-certificates.js';

export interface GrpcTransportOptions extends PeerTransportOptions {
  /** `https://host:port`; port 0 takes any free one. */
  readonly listenUrl: string;
  readonly certificates: CertificateFiles;
}

export class GrpcTransport extends PeerTransport {
  private readonly grpcNetwork: GrpcNetwork;

  constructor(options: GrpcTransportOptions) {
    const network = new GrpcNetwork(options);
    super(network, options);
    this.grpcNetwork = network;
  }

  /** Where it listens; 0 before `start`. */
  get port(): number {
    return this.grpcNetwork.port;
  }
}

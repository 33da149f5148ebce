/** The connection to one server of etcd: calls with deadlines, and streams. */
import { createSecureContext } from 'node:tls';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import type { Clock } from '@orch/component';
import { TlsChannelCredentials } from '@orch/raft';
import type { ResolvedEtcdOptions } from '../etcd-options.js';
import {
  flowWindowBytes,
  handshakeTimeoutMs,
  keepaliveMs,
  keepaliveTimeoutMs,
  requestBytesMax,
  responseBytesMax,
  retryDelayMs,
  streamRetryMaxMs,
} from '../limits.js';
import { EtcdError, isServiceError } from './errors.js';
import { type Method, type WatchRequest, type WatchResponse, watch } from './messages.js';

export type WatchStream = ClientDuplexStream<WatchRequest, WatchResponse>;

/** Returns a function that creates credentials, one for each channel. Throws if PEM is invalid. */
export function channelCredentials({ secure, tls }: ResolvedEtcdOptions): () => ChannelCredentials {
  if (!secure) return () => credentials.createInsecure();
  const { authorityPem: ca, keyPem: key, certificatePem: cert } = tls;
  const context = createSecureContext({
    ...(ca && { ca }),
    ...(key && { key }),
    ...(cert && { cert }),
  });
  return () => new TlsChannelCredentials(() => context, handshakeTimeoutMs);
}

/** Metadata with which a server without a leader refuses a call instead of delaying it. */
function leaderRequired(): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  return metadata;
}

export class EtcdMember {
  /** The result of the last check of its cluster id; undefined: check again. */
  version: string | undefined;
  private readonly client: Client;

  constructor(
    readonly address: string,
    channel: ChannelCredentials,
    private readonly clock: Clock,
  ) {
    this.client = new Client(address, channel, {
      'grpc.max_receive_message_length': responseBytesMax,
      'grpc.max_send_message_length': requestBytesMax,
      'grpc.keepalive_time_ms': keepaliveMs,
      'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.initial_reconnect_backoff_ms': retryDelayMs,
      'grpc.max_reconnect_backoff_ms': streamRetryMaxMs,
      'grpc.use_local_subchannel_pool': 1,
      'grpc-node.flow_control_window': flowWindowBytes,
      // EtcdCluster decides what may be retried, not the channel.
      'grpc.enable_retries': 0,
      'grpc.service_config_disable_resolution': 1,
    });
  }

  /** Resolves once connected; rejects with EtcdError. */
  connected(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.waitForReady(this.deadline(timeoutMs), (error) => {
        if (!error) resolve();
        else reject(new EtcdError(14, 'No connection established', this.address));
      });
    });
  }

  /** Makes one attempt. Rejects with EtcdError. */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(
        method.path,
        method.encode,
        method.decode,
        request,
        leaderRequired(),
        { deadline: this.deadline(timeoutMs) },
        (error, response) => {
          if (response !== undefined && !error) resolve(response);
          else reject(this.errorOf(error));
        },
      );
    });
  }

  openWatch(): WatchStream {
    return this.client.makeBidiStreamRequest(
      watch.path,
      watch.encode,
      watch.decode,
      leaderRequired(),
    );
  }

  errorOf(error: unknown): EtcdError {
    if (isServiceError(error)) return new EtcdError(error.code, error.details, this.address);
    const details = error instanceof Error ? error.message : String(error);
    return new EtcdError(2, details, this.address);
  }

  close(): void {
    this.client.close();
  }

  private deadline(timeoutMs: number): Date {
    return new Date(this.clock.nowMs() + timeoutMs);
  }
}

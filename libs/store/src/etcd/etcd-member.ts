/** The connection to one server of etcd: calls with deadlines, and streams. */
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import type { Clock } from '@orch/component';
import { EtcdError, isServiceError } from './errors.js';
import type { ResolvedEtcdOptions } from './etcd-options.js';
import {
  ANSWER_BYTES_MAX,
  FLOW_WINDOW_BYTES,
  KEEPALIVE_MS,
  KEEPALIVE_TIMEOUT_MS,
  REQUEST_BYTES_MAX,
  RETRY_DELAY_MS,
  STREAM_RETRY_MAX_MS,
} from './limits.js';
import { type Method, type WatchRequest, type WatchResponse, watch } from './messages.js';

export type WatchStream = ClientDuplexStream<WatchRequest, WatchResponse>;

export function channelCredentials({ secure, tls }: ResolvedEtcdOptions): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  const { authorityPem = null, keyPem = null, certificatePem = null } = tls;
  return credentials.createSsl(authorityPem, keyPem, certificatePem);
}

/** A server that has lost its leader refuses what carries this, in place of letting it wait. */
function leaderRequired(): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  return metadata;
}

export class EtcdMember {
  /** What was found when it was last asked which cluster it belongs to; undefined: ask again. */
  version: string | undefined;
  readonly #client: Client;

  constructor(
    readonly address: string,
    channel: ChannelCredentials,
    private readonly clock: Clock,
  ) {
    this.#client = new Client(address, channel, {
      'grpc.max_receive_message_length': ANSWER_BYTES_MAX,
      'grpc.max_send_message_length': REQUEST_BYTES_MAX,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.initial_reconnect_backoff_ms': RETRY_DELAY_MS,
      'grpc.max_reconnect_backoff_ms': STREAM_RETRY_MAX_MS,
      'grpc.use_local_subchannel_pool': 1,
      'grpc-node.flow_control_window': FLOW_WINDOW_BYTES,
      // What may be repeated is decided here, not in the channel.
      'grpc.enable_retries': 0,
      'grpc.service_config_disable_resolution': 1,
    });
  }

  /** Resolves once connected; rejects with EtcdError. */
  connected(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(this.#deadline(timeoutMs), (error) => {
        if (!error) resolve();
        else reject(new EtcdError(14, 'No connection established', this.address));
      });
    });
  }

  /** One try. Rejects with EtcdError. */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.encode,
        method.decode,
        request,
        leaderRequired(),
        { deadline: this.#deadline(timeoutMs) },
        (error, response) => {
          if (response !== undefined && !error) resolve(response);
          else reject(this.errorOf(error));
        },
      );
    });
  }

  openWatch(): WatchStream {
    return this.#client.makeBidiStreamRequest(
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
    this.#client.close();
  }

  #deadline(timeoutMs: number): Date {
    return new Date(this.clock.nowMs() + timeoutMs);
  }
}

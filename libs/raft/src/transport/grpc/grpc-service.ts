/** The calls of `proto/orch/raft/raft.proto` for gRPC: every message is one frame of bytes. */
import { Client, type ServiceDefinition, type ServiceError, status } from '@grpc/grpc-js';
import {
  frameBytesMax,
  greetingTimeoutMs,
  keepaliveIntervalMs,
  keepaliveTimeoutMs,
  receiveWindowBytes,
} from '../limits.js';
import { TransportError } from '../transport-error.js';
import { addressOf } from './peer-address.js';
import type { CertificateSet } from './peer-certificates.js';
import { TlsChannelCredentials } from './tls-credentials.js';

export const asIs = (frame: Buffer): Buffer => frame;
const frames = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};

export const peersService = {
  exchange: {
    path: '/raft.v1.Peers/Exchange',
    requestStream: true,
    responseStream: true,
    ...frames,
  },
  sendSnapshot: {
    path: '/raft.v1.Peers/SendSnapshot',
    requestStream: true,
    responseStream: false,
    ...frames,
  },
  status: {
    path: '/raft.v1.Peers/Status',
    requestStream: false,
    responseStream: false,
    ...frames,
  },
  operate: {
    path: '/raft.v1.Peers/Operate',
    requestStream: false,
    responseStream: false,
    ...frames,
  },
} as const satisfies ServiceDefinition;

const sharedOptions = {
  'grpc.max_receive_message_length': frameBytesMax,
  'grpc.max_send_message_length': frameBytesMax,
  'grpc.enable_channelz': 0,
} as const;

export const serverOptions = {
  ...sharedOptions,
  'grpc.keepalive_time_ms': keepaliveIntervalMs,
  'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
} as const;

export interface PeerConnection {
  readonly client: Client;
  /** Ends it and every call on it. Idempotent. */
  close(): void;
}

/**
 * A client with a connection of its own: made at the first call, never shared, never made again.
 */
export function connectPeer(
  peerUrl: string,
  certificates: () => CertificateSet,
  onClosed: () => void,
): PeerConnection {
  const credentials = new TlsChannelCredentials(
    () => certificates().secureContext,
    greetingTimeoutMs,
  );
  const client = new Client(`dns:${addressOf(peerUrl)}`, credentials, {
    ...sharedOptions,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    // Consensus repeats important messages, and buffers for a retry would hide a slow peer.
    'grpc.enable_retries': 0,
    'grpc.per_rpc_retry_buffer_size': 0,
    'grpc-node.flow_control_window': receiveWindowBytes,
    'grpc.keepalive_time_ms': keepaliveIntervalMs,
    'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
  });
  return {
    client,
    close: () => {
      client.close();
      credentials.destroy();
      onClosed();
    },
  };
}

/** What gRPC says of a failure, without the time that it ends its texts with. */
export function reasonOf(error: ServiceError): string {
  const text = (error.details || error.message).replace(/ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)/g, '');
  const cause = /Last error: (?:Error: )?(.*?)\. Resolution note:/.exec(text)?.[1];
  if (cause === undefined) return text;
  // The only symptom of a peer that ends the handshake: only its own log has the reason.
  return cause === 'Failed to connect'
    ? 'not reached: no server listens there, or it rejects this certificate'
    : cause;
}

export function callError(peerUrl: string, error: ServiceError | null): TransportError {
  const isRefusal = error?.code === status.FAILED_PRECONDITION;
  const text = `${peerUrl}: ${error ? reasonOf(error) : 'no answer'}`;
  return new TransportError(isRefusal ? 'Refused' : 'Unreachable', text, {
    cause: error ?? undefined,
  });
}

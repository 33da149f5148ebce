/** Opens connections through a proxy with HTTP CONNECT, over TCP, TLS or a Unix socket. */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.js';
import { errorMessage } from '../errors/thrown.js';
import { egressDialTimeoutMs } from '../limits.js';
import type { Dial, DialAddress } from './dialing-agent.js';

export type ProxyTransport =
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Absent: plain TCP. */
      readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
    }
  | { readonly kind: 'uds'; readonly path: string };

/** `connect`: the proxy cannot be reached. `proxy`: it does not open the connection. */
export type DialStage = 'connect' | 'proxy';

export interface DialObserver {
  opened(seconds: number): void;
  failed(stage: DialStage): void;
}

export interface HttpConnectOptions {
  readonly transport: ProxyTransport;
  readonly observer: DialObserver;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export function dialThroughHttpConnect(options: HttpConnectOptions): Dial {
  const { observer, clock, transport } = options;
  return async (address) => {
    const startMs = clock.monotonicMs();
    const progress: { stage: DialStage } = { stage: 'connect' };
    try {
      const stream = await connectThrough(transport, address, progress);
      observer.opened((clock.monotonicMs() - startMs) / 1_000);
      return stream;
    } catch (error) {
      observer.failed(progress.stage);
      const target = authorityOf(address);
      const reason =
        progress.stage === 'connect'
          ? `cannot connect to the proxy ${nameOf(transport)}`
          : `the proxy ${nameOf(transport)} opens no connection to ${target}`;
      throw new Error(`${reason}: ${errorMessage(error)}`, { cause: error });
    }
  };
}

function connectThrough(
  transport: ProxyTransport,
  address: DialAddress,
  progress: { stage: DialStage },
): Promise<Duplex> {
  const authority = authorityOf(address);
  const isTls = transport.kind === 'tcp' && transport.tls !== undefined;
  return new Promise((resolve, reject) => {
    const request = (isTls ? httpsRequest : httpRequest)({
      ...addressOf(transport),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority },
      agent: false,
      signal: AbortSignal.timeout(egressDialTimeoutMs),
    });
    request.once('socket', (socket) => {
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        progress.stage = 'proxy';
      });
    });
    request.once('connect', (response: IncomingMessage, stream: Duplex, head: Buffer) => {
      if (response.statusCode !== 200) {
        stream.destroy();
        reject(new Error(`status ${response.statusCode} ${response.statusMessage}`));
        return;
      }
      if (head.length > 0) stream.unshift(head);
      resolve(stream);
    });
    request.once('error', reject);
    request.end();
  });
}

function addressOf(transport: ProxyTransport): RequestOptions {
  if (transport.kind === 'uds') return { socketPath: transport.path };
  const { host, port, tls } = transport;
  return { host, port, ...tls };
}

function nameOf(transport: ProxyTransport): string {
  return transport.kind === 'uds' ? transport.path : authorityOf(transport);
}

function authorityOf({ host, port }: DialAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What forwarding one port of one address has in common, whatever the protocol. */
import type { Clock, Logger } from '@orch/component';
import type { EndpointPicker } from '../balancing/endpoint-picker.js';
import type { ForwardedProtocol } from '../rules/port-rules.js';
import type { ProxyMetrics } from './proxy-metrics.js';

export interface ForwarderSettings {
  /** Where to listen; `0.0.0.0` for node ports. */
  readonly address: string;
  readonly port: number;
  readonly picker: EndpointPicker;
  /** Service and port, for logs. */
  readonly name: string;
  readonly metrics: ProxyMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of this port; more are refused. */
  readonly connectionCountMax: number;
  readonly udpIdleTimeoutMs: number;
}

export interface Forwarder {
  readonly protocol: ForwardedProtocol;
  /** Listens; rejects if the address or port cannot be had. */
  open(): Promise<void>;
  /** The picker has a new set of endpoints. */
  endpointsChanged(): void;
  /** Takes no more connections; those there are go on by themselves. */
  close(): void;
  /** Ends the connections too. */
  destroy(): void;
  readonly connectionCount: number;
}

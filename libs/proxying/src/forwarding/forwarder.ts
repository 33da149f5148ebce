/** The common interface of forwarders, each of which serves one port of one address. */
import type { Clock, Logger } from '@orch/component';
import type { EndpointPicker } from '../balancing/endpoint-picker.js';
import type { ForwardedProtocol } from '../rules/port-rules.js';
import type { SourceFilter } from '../rules/source-filter.js';
import type { ProxyMetrics } from './proxy-metrics.js';

export interface ForwarderDependencies {
  /** The listen address; `0.0.0.0` for node ports. */
  readonly address: string;
  readonly port: number;
  readonly picker: EndpointPicker;
  /** Other clients are rejected. */
  readonly accepts: SourceFilter;
  /** Service and port, for logs. */
  readonly name: string;
  readonly metrics: ProxyMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Further connections of this port are rejected. */
  readonly connectionCountMax: number;
  readonly udpIdleTimeoutMs: number;
}

export interface Forwarder {
  readonly protocol: ForwardedProtocol;
  /** Starts listening; rejects if the address or port is not available. */
  open(): Promise<void>;
  /** Called when the picker has a new set of endpoints. */
  endpointsChanged(): void;
  /** Stops accepting connections; existing connections continue. */
  close(): void;
  /** Stops accepting connections and closes existing ones. */
  destroy(): void;
  readonly connectionCount: number;
}

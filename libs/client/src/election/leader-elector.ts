/** One leader at a time among processes, by a Lease object. */
import type { Clock, Logger } from '@orch/component';
import type { RestClient } from '../rest/rest-client.js';

export interface LeaderElectorOptions {
  client: RestClient;
  /** Of the Lease. */
  namespace: string;
  name: string;
  /** Unique to this process. */
  identity: string;
  /** How long others wait before they take over from a silent leader. */
  leaseDurationMs?: number;
  /** How long a leader tries to renew before it gives up; shorter than the lease. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  logger: Logger;
  clock?: Clock;
  random?: () => number;
  /** Called once leading; the signal aborts when leadership ends, at the latest before anyone else may lead. */
  onStartedLeading(signal: AbortSignal): void;
  /** Leadership lost other than by `stop`; processes usually exit here. */
  onLost(): void;
  onNewLeader?(identity: string): void;
}

export declare class LeaderElector {
  constructor(options: LeaderElectorOptions);
  start(): void;
  /** Stops and, when leading, gives the lease up so that another may take it at once. */
  stop(): Promise<void>;
  isLeader(): boolean;
}

/** One informer for each resource and selection, shared by everything in the process. */
import type { Clock, Logger } from '@orch/component';
import type { ApiObject } from '../objects.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import type { RestClient } from '../rest/rest-client.js';
import type { Informer, InformerSelection } from './informer.js';

export interface InformerFactoryOptions {
  client: RestClient;
  logger: Logger;
  resyncPeriodMs?: number;
  clock?: Clock;
  random?: () => number;
}

export declare class InformerFactory {
  constructor(options: InformerFactoryOptions);
  /** The shared informer; made on first use, and started at once if the factory is. */
  informer<T extends ApiObject>(
    resource: ResourceRef<T>,
    selection?: InformerSelection,
  ): Informer<T>;
  start(): void;
  whenSynced(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** One informer for each resource and selection, shared by everything in the process. */
import type { Clock, Logger } from '@orch/component';
import type { ApiObject } from '../objects.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import type { RestClient } from '../rest/rest-client.js';
import { Informer, type InformerSelection } from './informer.js';

export interface InformerFactoryOptions {
  client: RestClient;
  logger: Logger;
  resyncPeriodMs?: number;
  clock?: Clock;
  random?: () => number;
}

export class InformerFactory {
  private readonly informers = new Map<string, Informer<ApiObject>>();
  private started = false;

  constructor(private readonly options: InformerFactoryOptions) {}

  /** The shared informer; made on first use, and started at once if the factory is. */
  informer<T extends ApiObject>(
    resource: ResourceRef<T>,
    selection: InformerSelection = {},
  ): Informer<T> {
    const { group, version, plural } = resource;
    const { namespace = '', labelSelector = '', fieldSelector = '' } = selection;
    const key = [group, version, plural, namespace, labelSelector, fieldSelector].join('|');
    let informer = this.informers.get(key);
    if (!informer) {
      const made = new Informer<T>({ ...this.options, ...selection, resource });
      // The key fixes the resource, and the resource the type of its objects.
      informer = made as unknown as Informer<ApiObject>;
      this.informers.set(key, informer);
      if (this.started) informer.start();
    }
    return informer as unknown as Informer<T>;
  }

  start(): void {
    this.started = true;
    for (const informer of this.informers.values()) informer.start();
  }

  async whenSynced(timeoutMs: number): Promise<void> {
    await Promise.all([...this.informers.values()].map((one) => one.whenSynced(timeoutMs)));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.informers.values()].map((one) => one.stop()));
  }
}

/** One informer for each resource and selection, shared by everything in the process. */
import type { Clock, Logger } from '@orch/component';
import type { ApiObject } from '../objects.js';
import type { ApiClient } from '../rest/api-client.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import { type CacheView, Informer, type InformerSelection } from './informer.js';

export interface InformerFactoryOptions {
  client: ApiClient;
  logger: Logger;
  resyncPeriodMs?: number;
  clock?: Clock;
  random?: () => number;
}

/** An informer without the methods that depend on the type of its objects. */
type AnyInformer = Pick<Informer<ApiObject>, 'start' | 'stop' | 'whenSynced' | 'view'>;

export class InformerFactory {
  private readonly informers = new Map<string, AnyInformer>();
  private started = false;

  constructor(private readonly options: InformerFactoryOptions) {}

  /** The shared informer; created on first use, and started immediately if the factory runs. */
  informer<T extends ApiObject>(
    resource: ResourceRef<T>,
    selection: InformerSelection = {},
  ): Informer<T> {
    const key = keyOf(resource, selection);
    let informer = this.informers.get(key);
    if (!informer) {
      informer = new Informer<T>({ ...this.options, ...selection, resource });
      this.informers.set(key, informer);
      if (this.started) informer.start();
    }
    // The key fixes the resource, and the resource the type of its objects.
    return informer as Informer<T>;
  }

  /** The shared informer of all objects of `resource`, if there is one already. */
  existing<T extends ApiObject>(resource: ResourceRef<T>): Informer<T> | undefined {
    return this.informers.get(keyOf(resource, {})) as Informer<T> | undefined;
  }

  view(): CacheView[] {
    return [...this.informers.values()].map((one) => one.view());
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

function keyOf(resource: ResourceRef<ApiObject>, selection: InformerSelection): string {
  const { group, version, plural } = resource;
  const { namespace = '', labelSelector = '', fieldSelector = '' } = selection;
  return [group, version, plural, namespace, labelSelector, fieldSelector].join('|');
}

/**
 * Recounts what quotas say is used: when they change, when objects that they count are gone or count for
 * less, and now and then. The API server charges what is made, this gives back. A recount is written only to
 * the quota as it was when counting began; a lower one is looked at again, since an object that was charged
 * may have been stored a moment after it was counted.
 */
import {
  type CountedResource,
  countName,
  listOf,
  quotaEvaluator,
  semanticallyEqual,
} from '@orch/apimachinery';
import {
  type ApiObject,
  type DiscoveredResource,
  type Informer,
  isNotFound,
  type KnownResource,
  objectKey,
  resources,
  splitKey,
  type WorkQueue,
} from '@orch/client';
import type { ResourceQuota } from '@orch/types/core/v1';
import { every } from '../common/every.js';
import { limits } from '../limits.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { CountedMonitors } from './counted-monitors.js';
import {
  countedResources,
  hardNames,
  isLower,
  measuredPlurals,
  recountedStatus,
  usageOfCount,
  usageOfObjects,
} from './quota-usage.js';

/** Changes that come together are recounted together. */
const settleMs = 100;
/** A charged object is stored by then. */
const recheckMs = 2_000;

export interface ResourceQuotaSettings {
  readonly workerCount: number;
  readonly syncPeriodMs: number;
}

export class ResourceQuotaController implements Controller {
  private readonly quotas: Informer<ResourceQuota>;
  private readonly queue: WorkQueue;
  private readonly monitors: CountedMonitors;

  constructor(
    private readonly context: ControllerContext,
    private readonly settings: ResourceQuotaSettings,
  ) {
    this.quotas = context.informers.informer(resources.resourceQuotas);
    this.queue = queueFor(context, 'resourcequota_primary');
    this.monitors = new CountedMonitors(context, (resource, namespace) =>
      this.recountNamespace(resource, namespace),
    );
    this.quotas.addHandlers({
      onAdd: (quota) => this.queue.add(objectKey(quota)),
      onUpdate: (quota, old) => {
        // What is charged comes here as well, and is counted already.
        const { spec, status } = quota;
        const isCounted = semanticallyEqual(spec?.hard ?? {}, status?.hard ?? {});
        if (!isCounted || !semanticallyEqual(spec, old.spec)) this.queue.add(objectKey(quota));
      },
    });
    this.followMeasured(resources.pods);
    this.followMeasured(resources.services);
    this.followMeasured(resources.persistentVolumeClaims);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context;
    await Promise.all([
      workOff(this.queue, this.settings.workerCount, signal, (key) => this.reconcile(key)),
      every(this.settings.syncPeriodMs, clock, logger, signal, async () => {
        for (const key of this.quotas.lister.keys()) this.queue.add(key);
      }),
    ]);
    this.monitors.stop();
  }

  private followMeasured<T extends ApiObject>(known: KnownResource<T>): void {
    const resource: CountedResource = { group: '', resource: known.plural };
    const evaluator = quotaEvaluator([resource]);
    const look = ({ metadata }: T) => this.recountNamespace(resource, metadata?.namespace ?? '');
    this.context.informers.informer(known).addHandlers({
      onDelete: look,
      onUpdate: (object, old) => {
        if (this.quotas.lister.objectCount === 0) return;
        const nowMs = this.context.clock.nowMs();
        const [now, before] = [object, old].map((one) => listOf(evaluator.usage(one, nowMs)));
        const isSame = semanticallyEqual(now, before);
        if (!isSame) look(object);
      },
    });
  }

  private recountNamespace(resource: CountedResource, namespace: string): void {
    const name = countName(resource);
    for (const quota of this.quotas.lister.list(namespace)) {
      const isCounted = countedResources(hardNames(quota)).some((one) => countName(one) === name);
      if (isCounted) this.queue.addAfter(objectKey(quota), settleMs);
    }
  }

  private async reconcile(key: string): Promise<number | undefined> {
    await this.monitors.follow(this.numbered());
    const { namespace, name } = splitKey(key);
    const quotas = this.context.client.resource(resources.resourceQuotas, namespace);
    let quota: ResourceQuota;
    try {
      quota = await quotas.get(name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (quota.metadata?.deletionTimestamp) return undefined;
    const used = await this.recount(quota, namespace);
    const status = recountedStatus(quota, used);
    if (!status) return undefined;
    await quotas.replaceStatus({ ...quota, status });
    return isLower(quota.status, used) ? recheckMs : undefined;
  }

  /** Resources of which some quota counts the number, and which no informer follows. */
  private numbered(): CountedResource[] {
    const names = this.quotas.lister.list().flatMap(hardNames);
    return countedResources([...new Set(names)]).filter(
      ({ group, resource }) => group !== '' || !measuredPlurals.some((one) => one === resource),
    );
  }

  /** Of what is not served nothing is known: it has no usage. */
  private async recount(quota: ResourceQuota, namespace: string): Promise<Record<string, string>> {
    const used: Record<string, string> = {};
    for (const resource of countedResources(hardNames(quota))) {
      Object.assign(used, await this.usageOf(quota, resource, namespace));
    }
    return used;
  }

  /** Asks the server: what is known here may be older than what is charged. */
  private async usageOf(
    quota: ResourceQuota,
    resource: CountedResource,
    namespace: string,
  ): Promise<Record<string, string>> {
    const evaluator = quotaEvaluator([resource]);
    const found = await this.monitors.find(resource);
    if (!found) return {};
    try {
      if (!evaluator.countsOnly) {
        const objects = this.context.client.resource(found, namespace);
        const { items } = await objects.listAll({ limit: limits.quotaPageObjectsMax });
        return usageOfObjects(quota, evaluator, items, this.context.clock.nowMs());
      }
      return usageOfCount(quota, evaluator, await this.count(found, namespace));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // It is served no more.
      this.monitors.forget(resource);
      return {};
    }
  }

  /** Of one object the server tells how many follow; one that does not is asked for all. */
  private async count(resource: DiscoveredResource, namespace: string): Promise<number> {
    const objects = this.context.client.resource(resource, namespace);
    const { items, metadata } = await objects.list({ limit: 1 });
    if (!metadata.continue) return (items ?? []).length;
    if (metadata.remainingItemCount !== undefined) return 1 + metadata.remainingItemCount;
    const all = this.context.client.metadata(resource, namespace);
    return (await all.listAll({ limit: limits.quotaPageObjectsMax })).items.length;
  }
}

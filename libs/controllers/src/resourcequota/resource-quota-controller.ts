/**
 * Recounts the usage of quotas: when a quota changes, when counted objects are deleted or count for
 * less, and periodically. The API server charges creations; this controller releases. A recount is
 * written only over the quota that it started from. A lower count is checked again, because a
 * charged object may have been stored just after it was counted.
 */
import {
  type CountedResource,
  countName,
  quotaEvaluator,
  resourceListOf,
  semanticallyEqual,
} from '@orch/apimachinery';
import {
  type ApiObject,
  type DiscoveredResource,
  isNotFound,
  type KnownResource,
  type Lister,
  objectKey,
  resources,
  splitKey,
} from '@orch/client';
import type { ResourceQuota } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
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

/** Deletions within this time are recounted together. */
const settleMs = 100;
/** A charged object is stored within this time. */
const recheckMs = 2_000;

export const resourceQuotaController: ControllerFactory = (context, options) => {
  const quotas = context.informers.informer(resources.resourceQuotas).lister;
  const countedBy = (resource: CountedResource, namespace: string) =>
    quotas
      .list(namespace)
      .filter((quota) => isCounted(quota, resource))
      .map(objectKey);

  const builder = controller('resourcequota_primary', context)
    .workers(options.resourceQuotaSyncs)
    .for(resources.resourceQuotas, { update: needsRecount, delete: never })
    .every(options.resourceQuotaSyncPeriodMs, async () => {
      for (const key of quotas.keys()) builder.queue.add(key);
    });
  const watchMeasured = <T extends ApiObject>(known: KnownResource<T>) => {
    const resource: CountedResource = { group: '', resource: known.plural };
    const evaluator = quotaEvaluator([resource]);
    builder.watches(known, ({ metadata }) => countedBy(resource, metadata?.namespace ?? ''), {
      create: never,
      update(object, old) {
        if (quotas.objectCount === 0) return false;
        const nowMs = context.clock.nowMs();
        const [usage, before] = [object, old].map((one) =>
          resourceListOf(evaluator.usage(one, nowMs)),
        );
        return !semanticallyEqual(usage, before);
      },
      delayMs: () => settleMs,
    });
  };
  watchMeasured(resources.pods);
  watchMeasured(resources.services);
  watchMeasured(resources.persistentVolumeClaims);
  const monitors = new CountedMonitors(context, (resource, namespace) => {
    for (const key of countedBy(resource, namespace)) builder.queue.addAfter(key, settleMs);
  });
  const reconciler = new ResourceQuotaReconciler(context, quotas, monitors);
  builder.onServedResources(() => {
    monitors.servedResourcesChanged();
    for (const quota of quotas.list()) {
      const isKnown = countedResources(hardNames(quota)).every((one) => monitors.isKnown(one));
      if (!isKnown) builder.queue.add(objectKey(quota));
    }
  });
  return builder.onStop(() => monitors.stop()).reconcile((key) => reconciler.reconcile(key));
};

/** A charge by the API server updates a quota as well, but needs no recount. */
function needsRecount({ spec, status }: ResourceQuota, old: ResourceQuota): boolean {
  const hasUsage = semanticallyEqual(spec?.hard ?? {}, status?.hard ?? {});
  return !hasUsage || !semanticallyEqual(spec, old.spec);
}

function isCounted(quota: ResourceQuota, resource: CountedResource): boolean {
  const name = countName(resource);
  return countedResources(hardNames(quota)).some((counted) => countName(counted) === name);
}

class ResourceQuotaReconciler {
  constructor(
    private readonly context: ControllerContext,
    private readonly quotas: Lister<ResourceQuota>,
    private readonly monitors: CountedMonitors,
  ) {}

  async reconcile(key: string): Promise<ReconcileResult> {
    await this.monitors.follow(this.countedOnly());
    const { namespace, name } = splitKey(key);
    const quotas = this.context.client.resource(resources.resourceQuotas, namespace);
    // The role of the controller permits lists, not single reads.
    const { items } = await quotas.list({ fieldSelector: `metadata.name=${name}` });
    const quota = items[0];
    if (!quota || quota.metadata?.deletionTimestamp) return done;
    const used = await this.recount(quota, namespace);
    const status = recountedStatus(quota, used);
    if (!status) return done;
    await quotas.replaceStatus({ ...quota, status });
    return isLower(quota.status, used) ? { requeueAfterMs: recheckMs } : done;
  }

  /** Resources that some quota counts by their number and that no informer watches. */
  private countedOnly(): CountedResource[] {
    const names = this.quotas.list().flatMap(hardNames);
    return countedResources([...new Set(names)]).filter(
      ({ group, resource }) => group !== '' || !measuredPlurals.some((one) => one === resource),
    );
  }

  /** The usage of all counted resources. A resource that the server does not serve has none. */
  private async recount(quota: ResourceQuota, namespace: string): Promise<Record<string, string>> {
    const used: Record<string, string> = {};
    for (const resource of countedResources(hardNames(quota))) {
      Object.assign(used, await this.usageOf(quota, resource, namespace));
    }
    return used;
  }

  /** Counts on the server, because the cache may be older than the last charge. */
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
      // The server no longer serves the resource.
      this.monitors.forget(resource);
      return {};
    }
  }

  /**
   * Lists one object and reads the number of remaining ones; lists all if the server does not
   * report it.
   */
  private async count(resource: DiscoveredResource, namespace: string): Promise<number> {
    const objects = this.context.client.resource(resource, namespace);
    const { items, metadata } = await objects.list({ limit: 1 });
    if (!metadata.continue) return (items ?? []).length;
    if (metadata.remainingItemCount !== undefined) return 1 + metadata.remainingItemCount;
    const all = this.context.client.metadata(resource, namespace);
    return (await all.listAll({ limit: limits.quotaPageObjectsMax })).items.length;
  }
}

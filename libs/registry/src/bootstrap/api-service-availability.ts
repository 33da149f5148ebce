/**
 * Keeps the Available condition of every API service. A server behind a service is checked when its
 * registration, service or endpoints change, and periodically, all servers concurrently.
 */
import {
  type ApiObject,
  type Availability,
  availabilityCondition,
  discoveredAvailability,
  localAvailability,
  missingAddress,
} from '@orch/api';
import { formatTime } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { Entry } from '@orch/store';
import type { APIService } from '@orch/types/apiregistration/v1';
import type { Endpoints, Service } from '@orch/types/core/v1';
import { availabilityPeriodMs, availabilityRetryMs } from '../limits.js';
import { objectOf } from '../objects/entry-view.js';
import { Reconciler } from '../reconciling/reconciler.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';

const apiServices: KindName = { plural: 'apiservices', groupHead: 'apiregistration' };
const services: KindName = { plural: 'services', groupHead: 'core' };
const endpoints: KindName = { plural: 'endpoints', groupHead: 'core' };

/**
 * Returns why the server of an API service does not respond; undefined: it does. Rejects with
 * StatusError if this server cannot check now.
 */
export type CheckApiService = (object: APIService) => Promise<string | undefined>;

/** The result of the last check of a server. */
interface Checked {
  /** The states that were checked. */
  readonly of: string;
  readonly failure: string | undefined;
  readonly failureCount: number;
  /** On the monotonic clock. */
  readonly nextMs: number;
}

export function availabilityReconciler(
  registry: Registry,
  check: CheckApiService,
  logger: Logger,
): Reconciler {
  const { rawStore: store, clock } = registry;
  const prefixes = [apiServices, services, endpoints].map(
    ({ plural, groupHead }) => registry.storeOf(plural, groupHead).served.resource.keyPrefix,
  );
  const conditions = new AvailabilityConditions(registry, check);
  const round = () => conditions.update();
  return new Reconciler({ store, clock, logger }, { name: 'availability', prefixes, round });
}

class AvailabilityConditions {
  private readonly checked = new Map<string, Checked>();

  constructor(
    private readonly registry: Registry,
    private readonly check: CheckApiService,
  ) {}

  /** Returns the time until the next check, in ms; undefined: there is nothing to check. */
  async update(): Promise<number | undefined> {
    const entries = await new SystemObjectsWriter(this.registry).entries(apiServices);
    for (const key of this.checked.keys()) if (!entries.has(key)) this.checked.delete(key);
    const updates = [...entries.values()].map((entry) => this.updateOne(entry));
    const failed = (await Promise.allSettled(updates)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const nextMs = Math.min(...[...this.checked.values()].map((checked) => checked.nextMs));
    if (nextMs === Infinity) return undefined;
    return Math.max(1, Math.ceil(nextMs - this.registry.clock.monotonicMs()));
  }

  private async updateOne(entry: Entry): Promise<void> {
    const object = objectOf<APIService>(entry);
    const availability = await this.availabilityOf(entry.key, object);
    const now = formatTime(this.registry.clock.nowMs());
    if (!availabilityCondition(object, availability, now)) return;
    const name = object.metadata?.name ?? '';
    const change = (fresh: APIService) => {
      // Changed while it was checked: the next round checks again.
      if (JSON.stringify(fresh.spec) !== JSON.stringify(object.spec)) return;
      const condition = availabilityCondition(fresh, availability, now);
      if (!condition) return;
      const others = (fresh.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
      fresh.status = { ...fresh.status, conditions: [...others, condition] };
    };
    const writer = new SystemObjectsWriter(this.registry);
    await writer.change(apiServices, { namespace: '', name }, change, 'status');
  }

  private async availabilityOf(key: string, object: APIService): Promise<Availability> {
    const reference = object.spec?.service;
    if (!reference) {
      this.checked.delete(key);
      return localAvailability;
    }
    const [service, addresses] = await Promise.all([
      this.read<Service>(services, reference),
      this.read<Endpoints>(endpoints, reference),
    ]);
    const missing = missingAddress(reference, service?.object, addresses?.object);
    if (missing) {
      this.checked.delete(key);
      return missing;
    }
    const of = JSON.stringify([object.spec, service?.revision, addresses?.revision]);
    return discoveredAvailability(await this.checkOne(key, object, of));
  }

  /** The result of the last check, if it is recent and of the same state. */
  private async checkOne(key: string, object: APIService, of: string): Promise<string | undefined> {
    const { clock } = this.registry;
    const last = this.checked.get(key);
    const isSame = last?.of === of;
    if (isSame && clock.monotonicMs() < last.nextMs) return last.failure;
    const failure = await this.check(object);
    const failureCount = failure === undefined ? 0 : (isSame ? last.failureCount : 0) + 1;
    const waitMs =
      failureCount === 0
        ? availabilityPeriodMs
        : Math.min(availabilityPeriodMs, availabilityRetryMs * 2 ** (failureCount - 1));
    const nextMs = clock.monotonicMs() + waitMs;
    this.checked.set(key, { of, failure, failureCount, nextMs });
    return failure;
  }

  private async read<T extends ApiObject>(
    kind: KindName,
    { namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string },
  ): Promise<{ readonly object: T; readonly revision: number } | undefined> {
    const writer = new SystemObjectsWriter(this.registry);
    const entry = await writer.read(kind, { namespace, name });
    return entry && { object: objectOf<T>(entry), revision: entry.revision };
  }
}

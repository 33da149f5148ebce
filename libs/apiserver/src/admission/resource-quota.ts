/**
 * Quotas: what a new or changed object adds to the quotas of its namespace is written to their status before
 * the object is stored, each expected as it was counted on. So no two servers give the same amount away; what
 * was charged and then not stored is given back at once, or recounted by the controller. One quota a commit:
 * two changes of one resource at one revision could not be told apart by a watch that resumes.
 */
import { refusedName } from '@orch/api';
import {
  chargeQuotas,
  forbiddenObject,
  type QuotaEvaluator,
  type QuotaOutcome,
  quotaEvaluator,
  serverTimeout,
} from '@orch/apimachinery';
import type { Clock, Logger } from '@orch/component';
import { type Entry, type ReadConsistency, StoreError, type VersionedStore } from '@orch/store';
import type { ResourceQuota } from '@orch/types/core/v1';
import { quotaChargeAttemptsMax } from '../limits.js';
import { freshObject, objectOf } from '../registry/entry-view.js';
import { storedBytes } from '../registry/object-bytes.js';
import type { Resource } from '../registry/resource.js';
import type { AdmissionPlugin, AdmissionRequest, Reservation } from './admission.js';
import { Turns } from './turns.js';

type Consistency = Extract<ReadConsistency, { kind: 'any' | 'quorum' }>['kind'];
type Usage = Record<string, string>;

/** A quota after a charge, and what was used of it before. */
interface Charged {
  readonly entry: Entry;
  readonly usedBefore: Usage | undefined;
}

export interface QuotaSettings {
  readonly store: VersionedStore;
  readonly clock: Clock;
  readonly quotas: Resource;
  readonly logger: Logger;
}

export class ResourceQuotaAdmission implements AdmissionPlugin {
  readonly name = 'ResourceQuota';
  private readonly evaluators = new Map<Resource, QuotaEvaluator>();
  /** By namespace: what one server charges does not lose against itself. */
  private readonly turns = new Turns();
  /** Objects that were found to be in a namespace without quotas: most are. */
  private readonly uncounted = new WeakSet<object>();

  constructor(private readonly settings: QuotaSettings) {}

  /** Throws 403 for what no quota has room for. */
  async validate(request: AdmissionRequest): Promise<void> {
    const evaluator = this.evaluatorFor(request);
    if (!evaluator) return;
    const entries = await this.read(request, 'any');
    if (entries.length === 0) this.uncounted.add(request.object!);
    else await this.count(request, evaluator, entries);
  }

  async reserve(request: AdmissionRequest): Promise<Reservation | undefined> {
    if (this.uncounted.has(request.object!)) return undefined;
    const evaluator = this.evaluatorFor(request);
    if (!evaluator) return undefined;
    const charged = await this.turns.take(request.namespace, () => this.charge(request, evaluator));
    return { cancel: () => this.giveBack(request, charged) };
  }

  /** Undefined where no quota is asked. */
  private evaluatorFor({
    operation,
    served,
    namespace,
    subresource,
  }: AdmissionRequest): QuotaEvaluator | undefined {
    const { definition, resource } = served;
    if (operation === 'DELETE' || subresource !== '' || namespace === '') return undefined;
    // They come and go by themselves, and what tells of a problem must not be kept out by it.
    if (!definition.namespaced || definition.plural === 'events') return undefined;
    let evaluator = this.evaluators.get(resource);
    if (!evaluator) {
      const resources = [...resource.versions.values()].map(({ groupResource }) => groupResource);
      evaluator = quotaEvaluator(resources);
      this.evaluators.set(resource, evaluator);
    }
    return operation === 'UPDATE' && !evaluator.changesWithUpdates ? undefined : evaluator;
  }

  /** The quotas to charge. A refusal by what memory shows is confirmed by a quorum: there may be room by now. */
  private async count(
    request: AdmissionRequest,
    evaluator: QuotaEvaluator,
    known?: readonly Entry[],
  ): Promise<{ entry: Entry; used: Usage }[]> {
    let entries = known ?? (await this.read(request, 'any'));
    if (entries.length === 0) return [];
    let outcome = this.outcome(request, evaluator, entries);
    if (!outcome.allowed) {
      entries = await this.read(request, 'quorum');
      outcome = this.outcome(request, evaluator, entries);
    }
    return checked(request, outcome).map(({ quota, used }) => {
      const key = this.settings.quotas.key(request.namespace, quota.metadata?.name ?? '');
      return { entry: entries.find((entry) => entry.key === key)!, used };
    });
  }

  private outcome(
    { object, old }: AdmissionRequest,
    evaluator: QuotaEvaluator,
    entries: readonly Entry[],
  ): QuotaOutcome {
    return chargeQuotas(entries.map(objectOf) as readonly ResourceQuota[], evaluator, {
      object: object!,
      old,
      nowMs: this.settings.clock.nowMs(),
    });
  }

  /** Charges all or none. Throws 403, and 504 when others are faster again and again. */
  private async charge(request: AdmissionRequest, evaluator: QuotaEvaluator): Promise<Charged[]> {
    const charged: Charged[] = [];
    try {
      for (const { entry, used } of await this.count(request, evaluator)) {
        const one = await this.chargeOne(request, evaluator, entry, used);
        if (one) charged.push(one);
      }
      return charged;
    } catch (error) {
      await this.giveBack(request, charged);
      throw error;
    }
  }

  /** Undefined when there is nothing to charge any more. */
  private async chargeOne(
    request: AdmissionRequest,
    evaluator: QuotaEvaluator,
    entry: Entry,
    used: Usage,
  ): Promise<Charged | undefined> {
    let current = entry;
    let wanted = used;
    for (let attempt = 1; attempt <= quotaChargeAttemptsMax; attempt += 1) {
      const result = await this.write(request, current, wanted);
      if (result.succeeded) {
        const usedBefore = (objectOf(current) as ResourceQuota).status?.used;
        return { entry: result.entries[0]!, usedBefore };
      }
      // Somebody else charged it, or it was changed or deleted.
      if (!result.current) return undefined;
      current = result.current;
      const [charge] = checked(request, this.outcome(request, evaluator, [current]));
      if (!charge) return undefined;
      wanted = charge.used;
    }
    throw serverTimeout(request.served.groupResource, request.operation.toLowerCase(), 1);
  }

  /** Only what nobody has changed since: else it may have been recounted already, and will be. */
  private async giveBack(request: AdmissionRequest, charged: readonly Charged[]): Promise<void> {
    for (const { entry, usedBefore } of charged) {
      try {
        await this.write(request, entry, usedBefore);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.settings.logger.warn(
          { err: error, quota: entry.key },
          'a charge could not be given back, the quota controller will recount',
        );
      }
    }
  }

  private write(request: AdmissionRequest, entry: Entry, used: Usage | undefined) {
    const { store, quotas } = this.settings;
    const quota = freshObject(entry) as ResourceQuota;
    quota.status = { ...quota.status, used };
    return store.commit(
      [
        {
          kind: 'put',
          key: entry.key,
          bytes: storedBytes(quotas, quota),
          revisionOffset: quotas.revisionOffset,
          expect: { kind: 'revision', revision: entry.revision },
        },
      ],
      this.leftMs(request),
    );
  }

  private async read(request: AdmissionRequest, kind: Consistency): Promise<readonly Entry[]> {
    const { store, quotas } = this.settings;
    const { entries } = await store.list(quotas.prefix(request.namespace), {
      consistency: { kind },
      timeoutMs: this.leftMs(request),
    });
    return entries;
  }

  private leftMs({ deadlineMs }: AdmissionRequest): number {
    return Math.max(1, deadlineMs - this.settings.clock.monotonicMs());
  }
}

/** The charges of what is allowed. Throws 403 for the rest. */
function checked(request: AdmissionRequest, outcome: QuotaOutcome) {
  if (outcome.allowed) return outcome.charges;
  throw forbiddenObject(request.served.groupResource, refusedName(request), outcome.reason);
}

/**
 * Resource quotas: the usage that a new or changed object adds is written to the status of the
 * namespace's quotas before the object is stored. The usage of an object that is not stored is
 * refunded immediately, or recounted by the quota controller.
 */
import {
  chargeQuotas,
  forbiddenObject,
  type QuotaCharge,
  type QuotaEvaluator,
  quotaEvaluator,
  serverTimeout,
} from '@orch/apimachinery';
import type { AdmissionPlugin, AdmissionRequest, Reservation, Resource } from '@orch/registry';
import { objectOf } from '@orch/registry';
import type { ResourceQuota } from '@orch/types/core/v1';
import type { PluginDeclaration } from '../../plugin.js';
import { requestedName } from '../../rule.js';
import { type Consistency, QuotaCharges, type QuotaChargesDependencies } from './quota-charges.js';

export const resourceQuota: PluginDeclaration = {
  name: 'ResourceQuota',
  isDefault: true,
  create({ store, table, clock, logger }) {
    const quotas = table.stored('core', 'resourcequotas');
    if (!quotas) throw new Error('resource quotas are not registered');
    return new ResourceQuotaAdmission({ store, clock, quotas, logger });
  },
};

class ResourceQuotaAdmission implements AdmissionPlugin {
  readonly name = 'ResourceQuota';
  private readonly evaluators = new Map<Resource, QuotaEvaluator>();
  private readonly charges: QuotaCharges;
  /** Objects that were found to be in a namespace without quotas: most are. */
  private readonly uncounted = new WeakSet<object>();

  constructor(private readonly dependencies: QuotaChargesDependencies) {
    this.charges = new QuotaCharges(dependencies);
  }

  /** Throws 403 for what no quota has room for. */
  async validate(request: AdmissionRequest): Promise<void> {
    const evaluator = this.evaluatorFor(request);
    if (!evaluator) return;
    const quotas = await this.read(request, 'any');
    if (quotas.length === 0) this.uncounted.add(request.object!);
    else if (!this.outcome(request, evaluator, quotas).allowed) {
      this.decide(request, evaluator, await this.read(request, 'quorum'));
    }
  }

  async reserve(request: AdmissionRequest): Promise<Reservation | undefined> {
    if (this.uncounted.has(request.object!)) return undefined;
    const evaluator = this.evaluatorFor(request);
    if (!evaluator) return undefined;
    const { namespace, served, operation, context } = request;
    const { deadlineMs } = context;
    const charge = await this.charges.charge(namespace, {
      decide: (quotas) => this.decide(request, evaluator, quotas),
      deadlineMs,
      timeoutError: () => serverTimeout(served.groupResource, operation.toLowerCase(), 1),
    });
    return { cancel: () => this.charges.refund(namespace, charge, deadlineMs) };
  }

  /** Undefined if no quota applies. */
  private evaluatorFor({
    operation,
    served,
    namespace,
    subresource,
  }: AdmissionRequest): QuotaEvaluator | undefined {
    const { definition, resource } = served;
    if (operation === 'DELETE' || subresource !== '' || namespace === '') return undefined;
    // Events are short-lived, and a full quota must not suppress reports of a problem.
    if (!definition.namespaced || definition.plural === 'events') return undefined;
    let evaluator = this.evaluators.get(resource);
    if (!evaluator) {
      const resources = [...resource.versions.values()].map(({ groupResource }) => groupResource);
      evaluator = quotaEvaluator(resources);
      this.evaluators.set(resource, evaluator);
    }
    return operation === 'UPDATE' && !evaluator.changesWithUpdates ? undefined : evaluator;
  }

  /** The charges of an allowed request. Throws 403 for any other. */
  private decide(
    request: AdmissionRequest,
    evaluator: QuotaEvaluator,
    quotas: readonly ResourceQuota[],
  ): readonly QuotaCharge[] {
    const outcome = this.outcome(request, evaluator, quotas);
    if (outcome.allowed) return outcome.charges;
    throw forbiddenObject(request.served.groupResource, requestedName(request), outcome.reason);
  }

  private outcome(
    { object, old }: AdmissionRequest,
    evaluator: QuotaEvaluator,
    quotas: readonly ResourceQuota[],
  ) {
    const nowMs = this.dependencies.clock.nowMs();
    return chargeQuotas(quotas, evaluator, { object: object!, old, nowMs });
  }

  private async read({ namespace, context }: AdmissionRequest, consistency: Consistency) {
    const leftMs = Math.max(1, context.deadlineMs - this.dependencies.clock.monotonicMs());
    const entries = await this.charges.read(namespace, consistency, leftMs);
    return entries.map(objectOf<ResourceQuota>);
  }
}

/**
 * The `eviction` subresource of pods: a delete that respects disruption budgets. A disruption is
 * taken from the budget before the pod is deleted, so that concurrent evictions never exceed the
 * budget.
 */
import {
  type ApiObject,
  budgetNotProcessed,
  consumeDisruption,
  coversPod,
  isExemptFromBudgets,
  isTerminating,
  isUnreadyAndUnneeded,
} from '@orch/api';
import {
  codecFor,
  conflict,
  fieldSetOf,
  formatTime,
  isStatus,
  StatusError,
} from '@orch/apimachinery';
import {
  type DeleteOptions,
  freshObject,
  objectOf,
  type Registry,
  type ResourceStore,
  type UpdateStrategy,
  updateAttemptsMax,
} from '@orch/registry';
import type { Entry } from '@orch/store';
import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import type { RequestContext } from '../http/request-context.js';
import { admitAction } from '../request/admit-action.js';
import { plainRepresentation } from '../request/representation.js';
import {
  type DeleteOptionsBody,
  parseDeleteOptions,
  parseWriteOptions,
} from '../request/write-options.js';
import type { Handler } from './handler.js';
import { readPod } from './node-agents.js';
import { checkName, readObject, sendCreated } from './pod-actions.js';

const schemaType = 'policy/v1beta1.Eviction';

interface EvictionBody extends ApiObject {
  deleteOptions?: DeleteOptionsBody;
}

export function evictionHandler(registry: Registry): Handler {
  return async (context, pods) => {
    plainRepresentation(context);
    const body = await readObject(context, codecFor<EvictionBody>(schemaType));
    context.setOptions(parseWriteOptions(context.query, 'CreateOptions'));
    checkName(context.key, body, 'Eviction');
    const options = parseDeleteOptions(context.query, body.deleteOptions ?? {});
    context.dryRun = options.dryRun;
    await admitAction(context, registry.admission, pods.served, { object: body, schemaType });
    await new Eviction(registry, pods, context, options).run();
    sendCreated(context);
  };
}

/** Only the counts in the status change; the server owns them. */
const countStrategy: UpdateStrategy = {
  subresource: 'status',
  resetFields: fieldSetOf(),
  prepare: () => undefined,
  validate: () => [],
};

class Eviction {
  constructor(
    private readonly registry: Registry,
    private readonly pods: ResourceStore,
    private readonly context: RequestContext,
    private readonly options: DeleteOptions,
  ) {}

  async run(): Promise<void> {
    const pod = await this.readPod();
    if (isExemptFromBudgets(pod)) await this.evictExempt(pod);
    else await this.evictWithinBudget(pod);
  }

  /** A pod that has started in the meantime is no longer exempt. */
  private async evictExempt(seen: Pod): Promise<void> {
    let pod = seen;
    for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
      if (!isExemptFromBudgets(pod)) return this.evictWithinBudget(pod);
      try {
        return await this.delete(isTerminating(pod) ? this.options : this.onlyAsSeen(pod));
      } catch (error) {
        if (!isStatus(error, 'Conflict')) throw error;
        const current = await this.readPod();
        if (current.metadata?.resourceVersion === pod.metadata?.resourceVersion) throw error;
        pod = current;
      }
    }
    throw conflict(this.pods.served.groupResource, this.context.info.name);
  }

  private async evictWithinBudget(pod: Pod): Promise<void> {
    const served = this.registry.table.inStoredVersion('policy', 'poddisruptionbudgets');
    const store = served && this.registry.store(served);
    const budgets = store ? await this.budgetsOf(store, pod) : [];
    const [budget] = budgets;
    if (!store || !budget) return this.delete(this.options);
    if (budgets.length > 1) {
      throw new StatusError({
        code: 500,
        message:
          'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      });
    }
    if (isUnreadyAndUnneeded(budget, pod)) return this.deleteUnneeded(pod, budget);
    await this.consumeDisruption(store, budget);
    return this.delete(this.options);
  }

  private async budgetsOf({ served }: ResourceStore, pod: Pod): Promise<PodDisruptionBudget[]> {
    const { info, timeLeftMs } = this.context;
    const { entries } = await this.registry.rawStore.list(served.resource.prefix(info.namespace), {
      consistency: { kind: 'quorum' },
      timeoutMs: timeLeftMs,
    });
    return entries
      .map((entry) => objectOf<PodDisruptionBudget>(entry))
      .filter((budget) => coversPod(budget, served.version, pod));
  }

  private async consumeDisruption(
    budgets: ResourceStore,
    { metadata }: PodDisruptionBudget,
  ): Promise<void> {
    const { context } = this;
    const { namespace, name: podName } = context.info;
    const key = { namespace, name: metadata?.name ?? '' };
    const produce = (_existing: ApiObject, entry: Entry) => {
      const budget = freshObject<PodDisruptionBudget>(entry);
      consumeDisruption(budget, podName, formatTime(context.nowMs));
      return budget;
    };
    await budgets.update(key, { strategy: countStrategy, uid: '', produce }, context);
  }

  /** A pod that becomes ready in the meantime has to be evicted again. */
  private async deleteUnneeded(pod: Pod, budget: PodDisruptionBudget): Promise<void> {
    try {
      await this.delete(this.onlyAsSeen(pod));
    } catch (error) {
      const isOwnCondition = this.options.preconditions.resourceVersion === undefined;
      throw isOwnCondition && isStatus(error, 'Conflict') ? budgetNotProcessed(budget) : error;
    }
  }

  /** Adds the version of the pod as a precondition unless the client names one. */
  private onlyAsSeen({ metadata }: Pod): DeleteOptions {
    const { preconditions } = this.options;
    const resourceVersion = preconditions.resourceVersion ?? metadata?.resourceVersion;
    return { ...this.options, preconditions: { ...preconditions, resourceVersion } };
  }

  private async delete(options: DeleteOptions): Promise<void> {
    // Webhooks have seen the eviction.
    const reviewed = { ...options, isReviewed: true };
    await this.pods.delete(this.context.key, reviewed, this.context);
  }

  private readPod(): Promise<Pod> {
    return readPod(this.registry, this.context);
  }
}

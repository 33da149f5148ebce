/**
 * Keeps the rules of aggregated cluster roles those of the roles that they choose by label. Any change of
 * any cluster role may concern any of them, so all are looked at again; rules that others write into them
 * are taken out.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import { type Informer, isConflict, isNotFound, resources, type WorkQueue } from '@orch/client';
import type { ClusterRole } from '@orch/types/rbac.authorization/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { aggregatedRules } from './aggregated-rules.js';

export class ClusterRoleAggregationController implements Controller {
  private readonly roles: Informer<ClusterRole>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.roles = context.informers.informer(resources.clusterRoles);
    this.queue = queueFor(context, 'ClusterRoleAggregator');
    const changed = () => this.addAll();
    this.roles.addHandlers({ onAdd: changed, onUpdate: changed, onDelete: changed });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private addAll(): void {
    for (const { aggregationRule, metadata } of this.roles.lister.list()) {
      if (aggregationRule) this.queue.add(metadata?.name ?? '');
    }
  }

  private async reconcile(name: string): Promise<undefined> {
    const role = this.roles.lister.get(name);
    if (!role?.aggregationRule) return;
    const rules = aggregatedRules(role, this.roles.lister.list());
    if (semanticallyEqual(role.rules ?? [], rules)) return;
    try {
      await this.context.client.resource(resources.clusterRoles).replace({ ...role, rules });
    } catch (error) {
      // Lost against another writer or a deletion: the watch brings the outcome and the next look.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

/**
 * Keeps the status of disruption budgets, from which evictions are granted. The shell around
 * `budgetStatus`. Evictions write the same status: a conflict recomputes it from the latest budget,
 * so that no eviction is lost. A budget that cannot be computed allows no disruption and is
 * computed again when it, its pods or their controllers change.
 */
import {
  type EventRecorder,
  type EventType,
  type Informer,
  isConflict,
  type KnownResource,
  objectKey,
  resources,
} from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { type ControllerBuilder, controller } from '../common/controller-builder.js';
import { messageOf } from '../common/expected-errors.js';
import { replaceStatus } from '../common/replace-status.js';
import { ReportedTexts } from '../common/reported-texts.js';
import { selectorOf } from '../common/selectors.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import {
  budgetStatus,
  disruptionsOf,
  expectedPodsOf,
  failedStatus,
  needsScale,
  sameBudgetStatus,
} from './budget-plan.js';
import { ExpectedScale } from './expected-scale.js';

export const disruptionController: ControllerFactory = (context) => {
  const reconciler = new DisruptionReconciler(context);
  const builder = controller('disruption', context)
    .workers(limits.disruptionWorkerCount)
    .for(resources.podDisruptionBudgets, { delete: never })
    .watches(resources.pods, (pod) => reconciler.budgetKeysOf(pod));
  for (const workload of workloads) watchReplicas(builder, reconciler, workload);
  return builder.reconcile((key) => reconciler.reconcile(key));
};

interface Workload {
  readonly metadata?: { readonly namespace?: string; readonly uid?: string };
  readonly spec?: { readonly replicas?: number };
}

const workloads: readonly KnownResource<Workload>[] = [
  resources.deployments,
  resources.replicaSets,
  resources.statefulSets,
  resources.replicationControllers,
];

/** Budgets that count wanted replicas are computed again when these change. */
function watchReplicas(
  builder: ControllerBuilder<PodDisruptionBudget>,
  reconciler: DisruptionReconciler,
  workload: KnownResource<Workload>,
): void {
  builder.watches(workload, ({ metadata }) => reconciler.scaledBudgetKeys(metadata?.namespace), {
    create: never,
    update: (object, old) => object.spec?.replicas !== old.spec?.replicas,
    delete: never,
  });
}

class DisruptionReconciler {
  private readonly budgets: Informer<PodDisruptionBudget>;
  private readonly pods: Informer<Pod>;
  private readonly recorder: EventRecorder;
  private readonly expectedScale: ExpectedScale;
  /** Uids of pods whose budgets have been reported as too many. */
  private readonly reportedPods = new Set<string>();
  /** The last event of each budget. */
  private readonly reported: ReportedTexts;

  constructor(private readonly context: ControllerContext) {
    this.budgets = context.informers.informer(resources.podDisruptionBudgets);
    this.pods = context.informers.informer(resources.pods);
    this.recorder = context.recorder('controllermanager');
    this.expectedScale = new ExpectedScale(context);
    this.pods.addHandlers({
      onDelete: ({ metadata }) => this.reportedPods.delete(metadata?.uid ?? ''),
    });
    this.reported = new ReportedTexts(this.budgets);
  }

  budgetKeysOf(pod: Pod): string[] {
    const budgets = this.budgets.lister
      .list(pod.metadata?.namespace ?? '')
      .filter((budget) => selectorOf(budget).matches(pod.metadata?.labels));
    if (budgets.length > 1) this.reportSeveral(pod, budgets);
    return budgets.map(objectKey);
  }

  scaledBudgetKeys(namespace: string | undefined): string[] {
    return this.budgets.lister
      .list(namespace ?? '')
      .filter(needsScale)
      .map(objectKey);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const cached = this.budgets.lister.get(key);
    if (!cached) return done;
    const budget = { ...cached, apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
    const selector = selectorOf(budget);
    const pods = this.pods.lister
      .list(budget.metadata?.namespace ?? '')
      .filter(({ metadata }) => selector.matches(metadata?.labels));
    let total: number;
    try {
      total = needsScale(budget) ? await this.expectedScale.of(pods) : pods.length;
      expectedPodsOf(budget, total);
    } catch (error) {
      if (isConflict(error)) throw error;
      return this.fail(key, budget, messageOf(error));
    }
    if (pods.length > 0) this.reported.forget(key);
    else this.reportOnce(key, budget, 'Normal', 'NoPods', 'No matching pods found');
    return this.writeBudget(budget, pods, total);
  }

  private async writeBudget(
    budget: PodDisruptionBudget,
    pods: readonly Pod[],
    total: number,
  ): Promise<ReconcileResult> {
    const nowMs = this.context.clock.nowMs();
    let disruptions = disruptionsOf(budget, pods, nowMs);
    await this.replace(budget, (current) => {
      disruptions = disruptionsOf(current, pods, nowMs);
      const expected = expectedPodsOf(current, total);
      return budgetStatus(current, pods, expected, disruptions, nowMs);
    });
    const { namespace, name } = budget.metadata ?? {};
    for (const pod of disruptions.overdue) {
      const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`;
      this.recorder.event(asPod(pod), 'Warning', 'NotDeleted', message);
    }
    const { recheckMs } = disruptions;
    return recheckMs === undefined
      ? done
      : { requeueAfterMs: Math.min(recheckMs - nowMs + 1, limits.wallClockWaitMsMax) };
  }

  private async fail(
    key: string,
    budget: PodDisruptionBudget,
    reason: string,
  ): Promise<ReconcileResult> {
    const message = `Failed to calculate the number of expected pods: ${reason}`;
    this.reportOnce(key, budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
    const nowMs = this.context.clock.nowMs();
    await this.replace(budget, (current) => failedStatus(current, reason, nowMs));
    return { requeueAfterMs: limits.disruptionRetryMs };
  }

  /** A changed spec is computed by the reconciliation that its event leads to. */
  private async replace(
    budget: PodDisruptionBudget,
    statusOf: (current: PodDisruptionBudget) => PodDisruptionBudget['status'],
  ): Promise<void> {
    const { namespace, generation } = budget.metadata ?? {};
    const client = this.context.client.resource(resources.podDisruptionBudgets, namespace);
    await replaceStatus(client, budget, (current) => {
      if (current.metadata?.generation !== generation) return undefined;
      const status = statusOf(current);
      if (!status || sameBudgetStatus(current.status, status)) return undefined;
      return { ...current, status };
    });
  }

  private reportOnce(
    key: string,
    budget: PodDisruptionBudget,
    type: EventType,
    reason: string,
    message: string,
  ): void {
    if (this.reported.isNew(key, message)) this.recorder.event(budget, type, reason, message);
  }

  private reportSeveral(pod: Pod, budgets: readonly PodDisruptionBudget[]): void {
    const { namespace, name, uid = '' } = pod.metadata ?? {};
    if (this.reportedPods.has(uid)) return;
    this.reportedPods.add(uid);
    const chosen = budgets[0]?.metadata?.name;
    const message = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${chosen}" arbitrarily.`;
    this.recorder.event(asPod(pod), 'Warning', 'MultiplePodDisruptionBudgets', message);
  }
}

function asPod(pod: Pod): Pod {
  return { ...pod, apiVersion: 'v1', kind: 'Pod' };
}

/**
 * Scales the targets of autoscalers to what their metrics call for: one computation for each
 * autoscaler and period, and one when its spec changes. The shell around the replica calculator and
 * the scaling rules; recommendations and changes of the recent past are in memory.
 */
import { deepEqual, formatTime, type LabelSelector, parseLabelSelector } from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
  type KnownResource,
  objectKey,
  resources,
} from '@orch/client';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from '@orch/types/autoscaling/v2beta2';
import type { Pod } from '@orch/types/core/v1';
import { type ControllerContext, type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import type { ControllersOptions } from '../common/options.js';
import { type FoundScale, ScaleClient } from '../common/scale-client.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { AutoscalerConditions } from './autoscaler-status.js';
import {
  evaluateMetric,
  failureReason,
  failureSummary,
  type MetricContext,
} from './metric-replicas.js';
import { MetricsClient } from './metrics-client.js';
import { ScalingHistory } from './scaling-history.js';
import { type Limited, limitByBehavior, limitByDefault } from './scaling-rules.js';

/** The version with all fields. */
export const autoscalers: KnownResource<HorizontalPodAutoscaler> = {
  ...resources.horizontalPodAutoscalers,
  version: 'v2beta2',
};

export const podAutoscalerController: ControllerFactory = (context, options) => {
  const reconciler = new PodAutoscaler(context, options);
  const informer = context.informers.informer(autoscalers);
  informer.addHandlers({ onDelete: (autoscaler) => reconciler.forget(objectKey(autoscaler)) });
  return controller('horizontalpodautoscaler', context)
    .workers(limits.autoscalerWorkerCount)
    .for(autoscalers, {
      update: (autoscaler, old) => !deepEqual(autoscaler.spec, old.spec),
      delete: never,
    })
    .reconcile(async (key) => {
      const autoscaler = informer.lister.get(key);
      if (!autoscaler || autoscaler.metadata?.deletionTimestamp) return done;
      await reconciler.reconcile(key, autoscaler);
      return { requeueAfterMs: options.autoscalerSyncPeriodMs };
    });
};

interface Desired {
  readonly replicas: number;
  readonly reason: string;
  readonly metrics: readonly MetricStatus[];
  readonly isRescaling: boolean;
}

/** Ends a computation; its conditions and events are recorded already. */
class ComputationError extends Error {
  override readonly name = 'ComputationError';
}

class PodAutoscaler {
  private readonly pods: Informer<Pod>;
  private readonly recorder: EventRecorder;
  private readonly scales: ScaleClient;
  private readonly metrics: MetricsClient;
  private readonly histories = new Map<string, ScalingHistory>();

  constructor(
    private readonly context: ControllerContext,
    private readonly options: ControllersOptions,
  ) {
    this.pods = context.informers.informer(resources.pods);
    this.recorder = context.recorder('horizontal-pod-autoscaler');
    this.scales = new ScaleClient(context.client, context.clock);
    this.metrics = new MetricsClient(context.client);
  }

  forget(key: string): void {
    this.histories.delete(key);
  }

  async reconcile(key: string, cached: HorizontalPodAutoscaler): Promise<void> {
    const { group, version, kind } = autoscalers;
    const autoscaler = { ...cached, apiVersion: `${group}/${version}`, kind };
    const nowMs = this.context.clock.nowMs();
    const conditions = new AutoscalerConditions(autoscaler.status?.conditions, nowMs);
    const statusNow = autoscaler.status ?? { currentReplicas: 0, desiredReplicas: 0 };
    let status: HorizontalPodAutoscalerStatus = statusNow;
    try {
      const found = await this.readScale(autoscaler, conditions);
      status = { ...statusNow, currentReplicas: found.scale.spec?.replicas ?? 0 };
      const desired = await this.desiredReplicas(key, autoscaler, found, conditions);
      if (desired.isRescaling) await this.rescale(key, autoscaler, found, desired, conditions);
      const { currentMetrics: _old, ...others } = status;
      status = {
        ...others,
        desiredReplicas: desired.replicas,
        ...(desired.isRescaling && { lastScaleTime: formatTime(nowMs) }),
        ...(desired.metrics.length > 0 && { currentMetrics: [...desired.metrics] }),
      };
    } catch (error) {
      if (!(error instanceof ComputationError)) throw error;
      this.context.logger.debug({ err: error, autoscaler: key }, 'autoscaler was not computed');
    }
    await this.writeStatus(autoscaler, { ...status, conditions: conditions.list });
  }

  private async readScale(
    autoscaler: HorizontalPodAutoscaler,
    conditions: AutoscalerConditions,
  ): Promise<FoundScale> {
    const { namespace = '' } = autoscaler.metadata ?? {};
    try {
      const target = autoscaler.spec?.scaleTargetRef ?? { kind: '', name: '' };
      const found = await this.scales.get(namespace, target);
      const message = "the HPA controller was able to get the target's current scale";
      conditions.set('AbleToScale', true, 'SucceededGetScale', message);
      return found;
    } catch (error) {
      const reason = messageOf(error);
      const message = `the HPA controller was unable to get the target's current scale: ${reason}`;
      this.recorder.event(autoscaler, 'Warning', 'FailedGetScale', reason);
      conditions.set('AbleToScale', false, 'FailedGetScale', message);
      throw new ComputationError(reason, { cause: error });
    }
  }

  private async desiredReplicas(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    found: FoundScale,
    conditions: AutoscalerConditions,
  ): Promise<Desired> {
    const { minReplicas = 1, maxReplicas = 1 } = autoscaler.spec ?? {};
    const current = found.scale.spec?.replicas ?? 0;
    const history = this.historyOf(key);
    history.begin(current, this.context.clock.nowMs());
    const unmeasured = { metrics: [], isRescaling: true };
    if (current === 0 && minReplicas !== 0) {
      const message = 'scaling is disabled since the replica count of the target is zero';
      conditions.set('ScalingActive', false, 'ScalingDisabled', message);
      return { ...unmeasured, replicas: 0, reason: '', isRescaling: false };
    }
    if (current > maxReplicas) {
      const reason = 'Current number of replicas above Spec.MaxReplicas';
      return { ...unmeasured, replicas: maxReplicas, reason };
    }
    if (current < minReplicas) {
      const reason = 'Current number of replicas below Spec.MinReplicas';
      return { ...unmeasured, replicas: minReplicas, reason };
    }
    const measured = await this.measure(autoscaler, found, conditions);
    const { stabilized, limited, replicas } = this.limit(history, autoscaler, current, measured);
    conditions.set('AbleToScale', true, stabilized.reason, stabilized.message);
    conditions.set('ScalingLimited', limited.isLimited, limited.reason, limited.message);
    let reason = '';
    if (measured.replicas > current) reason = `${measured.name} above target`;
    if (measured.replicas < current) reason = 'All metrics below target';
    return { replicas, reason, metrics: measured.statuses, isRescaling: replicas !== current };
  }

  /** The highest of the proposals. If a metric fails, the others can only scale up. */
  private async measure(
    autoscaler: HorizontalPodAutoscaler,
    found: FoundScale,
    conditions: AutoscalerConditions,
  ): Promise<{ replicas: number; name: string; statuses: MetricStatus[] }> {
    const context = this.metricContext(autoscaler, found, conditions);
    const specs = autoscaler.spec?.metrics ?? [];
    const statuses: MetricStatus[] = [];
    let replicas = 0;
    let name = '';
    const failures: { readonly type: string; readonly message: string }[] = [];
    for (const spec of specs) {
      try {
        const metric = await evaluateMetric(context, spec);
        statuses.push(metric.status);
        if (replicas === 0 || metric.replicas > replicas) ({ replicas, name } = metric);
      } catch (error) {
        const failure = { type: spec.type, message: messageOf(error) };
        failures.push(failure);
        this.recorder.event(autoscaler, 'Warning', failureReason(spec.type), failure.message);
      }
    }
    const [first] = failures;
    if (first && (failures.length === specs.length || replicas < context.specReplicas)) {
      const message = `the HPA was unable to compute the replica count: ${first.message}`;
      conditions.set('ScalingActive', false, failureReason(first.type), message);
      const counts = `${failures.length} invalid out of ${specs.length}`;
      const summary = failureSummary(first.type, first.message);
      throw this.notComputed(autoscaler, `invalid metrics (${counts}), first error is: ${summary}`);
    }
    const message = `the HPA was able to successfully calculate a replica count from ${name}`;
    conditions.set('ScalingActive', true, 'ValidMetricFound', message);
    return { replicas, name, statuses };
  }

  private metricContext(
    autoscaler: HorizontalPodAutoscaler,
    { scale }: FoundScale,
    conditions: AutoscalerConditions,
  ): MetricContext {
    const { namespace = '' } = autoscaler.metadata ?? {};
    const selector = this.podSelector(autoscaler, scale.status?.selector ?? '', conditions);
    const { options } = this;
    return {
      namespace,
      selector,
      metrics: this.metrics,
      scales: this.scales,
      pods: this.pods.lister
        .list(namespace)
        .filter(({ metadata }) => selector.matches(metadata?.labels)),
      specReplicas: scale.spec?.replicas ?? 0,
      statusReplicas: scale.status?.replicas ?? 0,
      settings: {
        tolerance: options.autoscalerTolerance,
        cpuInitializationMs: options.autoscalerCpuInitializationMs,
        initialReadinessDelayMs: options.autoscalerInitialReadinessDelayMs,
        nowMs: this.context.clock.nowMs(),
      },
    };
  }

  private podSelector(
    autoscaler: HorizontalPodAutoscaler,
    text: string,
    conditions: AutoscalerConditions,
  ): LabelSelector {
    if (text === '') {
      const message = "the HPA target's scale is missing a selector";
      this.recorder.event(autoscaler, 'Warning', 'SelectorRequired', 'selector is required');
      conditions.set('ScalingActive', false, 'InvalidSelector', message);
      throw this.notComputed(autoscaler, 'selector is required');
    }
    try {
      return parseLabelSelector(text);
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
      this.recorder.event(autoscaler, 'Warning', 'InvalidSelector', message);
      conditions.set('ScalingActive', false, 'InvalidSelector', message);
      throw this.notComputed(autoscaler, message);
    }
  }

  private notComputed(autoscaler: HorizontalPodAutoscaler, message: string): ComputationError {
    this.recorder.event(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', message);
    return new ComputationError(message);
  }

  private limit(
    history: ScalingHistory,
    { spec }: HorizontalPodAutoscaler,
    currentReplicas: number,
    measured: { readonly replicas: number },
  ): Limited {
    const nowMs = this.context.clock.nowMs();
    const stabilizationMs = this.options.autoscalerDownscaleStabilizationMs;
    const { minReplicas = 1, maxReplicas = 1, behavior } = spec ?? {};
    const { recommendations, scaleUps, scaleDowns } = history;
    const desiredReplicas = measured.replicas;
    const bounds = { currentReplicas, desiredReplicas, minReplicas, maxReplicas };
    const input = { ...bounds, recommendations, nowMs };
    const seconds = stabilizationMs / 1000;
    const scaleUp = { stabilizationWindowSeconds: 0, ...behavior?.scaleUp };
    const scaleDown = { stabilizationWindowSeconds: seconds, ...behavior?.scaleDown };
    const longest = Math.max(
      scaleUp.stabilizationWindowSeconds,
      scaleDown.stabilizationWindowSeconds,
    );
    history.recommend(desiredReplicas, nowMs, longest * 1000);
    if (!behavior) return limitByDefault(input, stabilizationMs);
    return limitByBehavior({ ...input, scaleUp, scaleDown, scaleUps, scaleDowns });
  }

  private async rescale(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    found: FoundScale,
    { replicas, reason }: Desired,
    conditions: AutoscalerConditions,
  ): Promise<void> {
    const current = found.scale.spec?.replicas ?? 0;
    try {
      await this.scales.update(autoscaler.metadata?.namespace ?? '', found, replicas);
    } catch (error) {
      const message = `New size: ${replicas}; reason: ${reason}; error: ${messageOf(error)}`;
      this.recorder.event(autoscaler, 'Warning', 'FailedRescale', message);
      const why = `the HPA controller was unable to update the target scale: ${messageOf(error)}`;
      conditions.set('AbleToScale', false, 'FailedUpdateScale', why);
      throw new ComputationError(message, { cause: error });
    }
    const done = `the HPA controller was able to update the target scale to ${replicas}`;
    conditions.set('AbleToScale', true, 'SucceededRescale', done);
    const message = `New size: ${replicas}; reason: ${reason}`;
    this.recorder.event(autoscaler, 'Normal', 'SuccessfulRescale', message);
    const { scaleUp = {}, scaleDown = {} } = autoscaler.spec?.behavior ?? {};
    const nowMs = this.context.clock.nowMs();
    this.historyOf(key).changed(current, replicas, nowMs, scaleUp, scaleDown);
  }

  private historyOf(key: string): ScalingHistory {
    let history = this.histories.get(key);
    if (!history) {
      history = new ScalingHistory();
      this.histories.set(key, history);
    }
    return history;
  }

  /** After a conflict, the next period writes the status of the newer object. */
  private async writeStatus(
    autoscaler: HorizontalPodAutoscaler,
    status: HorizontalPodAutoscalerStatus,
  ): Promise<void> {
    if (deepEqual(autoscaler.status, status)) return;
    const client = this.context.client.resource(autoscalers, autoscaler.metadata?.namespace);
    await ignoring(client.replaceStatus({ ...autoscaler, status }), isConflict, isNotFound);
  }
}

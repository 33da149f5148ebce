/**
 * Reconciles daemon sets: one pod on each fitting node. The shell around `planPods` and
 * `planUpdate`. While requests of an earlier reconciliation have not appeared in the cache, it
 * plans nothing (`Expectations`).
 */
import { deepEqual } from '@orch/apimachinery';
import { type EventRecorder, type Informer, objectKey, resources } from '@orch/client';
import type { ControllerRevision, DaemonSet } from '@orch/types/apps/v1';
import type { Node, Pod } from '@orch/types/core/v1';
import { claim } from '../common/claimer.js';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { claimCandidates } from '../common/dependents.js';
import { Expectations } from '../common/expectations.js';
import { PodControl } from '../common/pod-control.js';
import { availableAfterMs } from '../common/pods.js';
import { replaceStatus } from '../common/replace-status.js';
import { historyLimitOf, RevisionHistory, type RevisionState } from '../common/revision-history.js';
import { sameData } from '../common/revisions.js';
import { isChanged, SelectorOverlap } from '../common/selector-overlap.js';
import { selectorOf } from '../common/selectors.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { daemonPod, daemonTemplate, hashLabel, isUpdated, targetNodeOf } from './daemon-pod.js';
import {
  type DaemonNode,
  type DaemonPlan,
  type DaemonState,
  planPods,
  planUpdate,
} from './daemonset-plan.js';
import { daemonSetStatus, sameStatus } from './daemonset-status.js';
import { FailedPodBackoff } from './failed-pod-backoff.js';
import { nodeFit } from './node-fit.js';
import { boundsOf, isSurging } from './update-bounds.js';

export const daemonSetController: ControllerFactory = (context, options) => {
  const reconciler = new DaemonSetReconciler(context);
  return controller('daemonset', context)
    .workers(options.daemonSetSyncs)
    .for(resources.daemonSets)
    .owns(resources.pods, {
      selector: selectorOf,
      expectations: reconciler.expectations,
      requeueAfterMs: ({ spec }, pod, old) => availableAfterMs(spec?.minReadySeconds, pod, old),
    })
    .watches(resources.nodes, (node) => reconciler.setsOn(node), {
      update: hasPlacementChanged,
      delete: never,
    })
    .reconcile((key) => reconciler.reconcile(key));
};

/** Whether another set of daemon pods may belong on the node. */
function hasPlacementChanged(node: Node, old: Node): boolean {
  return (
    !deepEqual(node.metadata?.labels, old.metadata?.labels) ||
    !deepEqual(node.spec?.taints, old.spec?.taints)
  );
}

class DaemonSetReconciler {
  readonly expectations: Expectations;
  private readonly sets: Informer<DaemonSet>;
  private readonly nodes: Informer<Node>;
  private readonly pods: Informer<Pod>;
  private readonly recorder: EventRecorder;
  private readonly history: RevisionHistory<DaemonSet>;
  private readonly control: PodControl;
  private readonly failures: FailedPodBackoff;
  private readonly overlap: SelectorOverlap<DaemonSet>;

  constructor(private readonly context: ControllerContext) {
    const { clock, informers } = context;
    this.expectations = new Expectations(clock);
    this.sets = informers.informer(resources.daemonSets);
    this.nodes = informers.informer(resources.nodes);
    this.pods = informers.informer(resources.pods);
    this.recorder = context.recorder('daemonset-controller');
    this.history = new RevisionHistory(context, resources.daemonSets, hashLabel);
    const { expectations, recorder } = this;
    this.control = new PodControl(context, recorder, expectations);
    this.failures = new FailedPodBackoff(clock);
    this.overlap = new SelectorOverlap(this.sets, recorder, selectorOf);
    this.sets.addHandlers({ onDelete: (set) => this.failures.forget(objectKey(set)) });
  }

  /** The keys of the sets with pods that belong on the node or may stay there. */
  setsOn(node: Node): string[] {
    const concerned = this.sets.lister.list().filter((set) => nodeFit(set, node).mayStay);
    return concerned.map(objectKey);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const cached = this.sets.lister.get(key);
    if (!cached || cached.metadata?.deletionTimestamp) return done;
    const set: DaemonSet = { ...cached, apiVersion: 'apps/v1', kind: 'DaemonSet' };
    if (selectorOf(set).everything) return this.rejectSelector(set);
    if (isChanged(set)) this.overlap.report(set);
    const revisions = await this.history.sync(set, await this.history.claim(set));
    const isCacheCurrent = this.expectations.satisfied(key);
    const pods = await this.claimPods(set);
    const state = this.stateOf(set, pods, revisions);
    const plan = isCacheCurrent ? this.plan(set, state) : undefined;
    const error = plan && (await this.applyPlan(set, plan, hashOf(revisions.update)));
    const status = await this.writeStatus(set, state, revisions, isCacheCurrent);
    if (error !== undefined) throw error;
    if (isCacheCurrent) await this.pruneHistory(set, pods, revisions);
    return requeue(plan?.requeueAfterMs, set, status);
  }

  private rejectSelector(set: DaemonSet): ReconcileResult {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
    this.recorder.event(set, 'Warning', 'SelectingAll', message);
    return done;
  }

  private claimPods(set: DaemonSet): Promise<Pod[]> {
    return claim({
      client: this.context.client,
      owner: set,
      ownerResource: resources.daemonSets,
      selector: selectorOf(set),
      dependentResource: resources.pods,
      candidates: claimCandidates(this.pods, set),
    });
  }

  private stateOf(set: DaemonSet, pods: readonly Pod[], revisions: RevisionState): DaemonState {
    const { clock, features } = this.context;
    const key = objectKey(set);
    const equal = revisions.all.filter((revision) => sameData(revision, revisions.update));
    const hashes = new Set(equal.map(hashOf));
    return {
      nodes: nodesOf(set, this.nodes.lister.list(), pods),
      isUpdated: (pod) => isUpdated(set, hashes, pod),
      isSurging: isSurging(set, features.enabled('DaemonSetUpdateSurge')),
      minReadySeconds: set.spec?.minReadySeconds ?? 0,
      nowMs: clock.nowMs(),
      failureDelayMs: (nodeName) => this.failures.delayMs(key, nodeName),
    };
  }

  /** An update waits until every node has the pods that it needs. */
  private plan(set: DaemonSet, state: DaemonState): DaemonPlan {
    const plan = planPods(state);
    const isSettled = plan.creations.length === 0 && plan.deletions.length === 0;
    if (!isSettled || set.spec?.updateStrategy?.type === 'OnDelete') return plan;
    const nodeCount = state.nodes.filter(({ shouldRun }) => shouldRun).length;
    const isSurgeEnabled = this.context.features.enabled('DaemonSetUpdateSurge');
    const update = planUpdate(state, boundsOf(set, nodeCount, isSurgeEnabled));
    return { ...plan, creations: update.creations, deletions: update.deletions };
  }

  /** @returns the first failure, if any. */
  private async applyPlan(set: DaemonSet, plan: DaemonPlan, hash: string): Promise<unknown> {
    for (const { nodeName, pod } of plan.failed) {
      this.failures.replaced(objectKey(set), nodeName);
      const message = `Found failed daemon pod ${pod.metadata?.namespace}/${pod.metadata?.name} on node ${nodeName}, will try to kill it`;
      this.recorder.event(set, 'Warning', 'FailedDaemonPod', message);
    }
    if (plan.creations.length === 0 && plan.deletions.length === 0) return undefined;
    const template = daemonTemplate(set, hash);
    const { createError, deleteError } = await this.control.apply(set, {
      creations: plan.creations
        .slice(0, limits.daemonBurstMax)
        .map((nodeName) => daemonPod(set, template, nodeName)),
      deletions: plan.deletions.slice(0, limits.daemonBurstMax),
    });
    return createError ?? deleteError;
  }

  private async writeStatus(
    set: DaemonSet,
    state: DaemonState,
    { collisionCount }: RevisionState,
    isCacheCurrent: boolean,
  ): Promise<DaemonSet['status']> {
    const { generation = 0 } = set.metadata ?? {};
    const observed = isCacheCurrent ? generation : (set.status?.observedGeneration ?? 0);
    const status = daemonSetStatus(set, state, collisionCount, observed);
    const written = await replaceStatus(
      this.context.client.resource(resources.daemonSets, set.metadata?.namespace),
      set,
      (latest) => (sameStatus(latest.status, status) ? undefined : { ...latest, status }),
    );
    return written.status;
  }

  /** Live revisions count towards the limit. */
  private async pruneHistory(
    set: DaemonSet,
    pods: readonly Pod[],
    { update, all }: RevisionState,
  ): Promise<void> {
    const hashes = new Set(pods.map(({ metadata }) => metadata?.labels?.[hashLabel]));
    const isOld = (revision: ControllerRevision) => revision !== update;
    const isLive = (revision: ControllerRevision) =>
      !isOld(revision) || hashes.has(hashOf(revision));
    const liveCount = all.filter((revision) => isOld(revision) && isLive(revision)).length;
    await this.history.prune(set, all, isLive, historyLimitOf(set) - liveCount);
  }
}

/** All nodes, and nodes without an object that pods name. */
function nodesOf(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): DaemonNode[] {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = targetNodeOf(pod);
    if (name !== undefined) byNode.set(name, [...(byNode.get(name) ?? []), pod]);
  }
  const present = nodes.map((node): DaemonNode => {
    const name = node.metadata?.name ?? '';
    const found = byNode.get(name) ?? [];
    byNode.delete(name);
    return { ...nodeFit(set, node), name, exists: true, pods: found };
  });
  const missing = [...byNode].map(
    ([name, found]): DaemonNode => ({
      ...{ shouldRun: false, mayStay: false },
      ...{ name, exists: false, pods: found },
    }),
  );
  return [...present, ...missing];
}

function hashOf({ metadata }: ControllerRevision): string {
  return metadata?.labels?.[hashLabel] ?? metadata?.name ?? '';
}

function requeue(
  failureMs: number | undefined,
  { spec }: DaemonSet,
  status: DaemonSet['status'],
): ReconcileResult {
  const minReadyMs = (spec?.minReadySeconds ?? 0) * 1000;
  const isWaiting = (status?.numberReady ?? 0) !== (status?.numberAvailable ?? 0);
  const times = [failureMs, minReadyMs > 0 && isWaiting ? minReadyMs : undefined];
  const wanted = times.filter((time) => time !== undefined);
  return wanted.length > 0 ? { requeueAfterMs: Math.min(...wanted) } : done;
}

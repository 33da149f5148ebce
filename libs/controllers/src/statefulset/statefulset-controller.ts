/**
 * Reconciles stateful sets. The shell around `planStatefulSet`: claims pods and revisions, plans,
 * performs the steps and writes the status. While requests of an earlier reconciliation have not
 * appeared in the cache, it plans nothing (`Expectations`).
 */
import { controllerOf } from '@orch/apimachinery';
import {
  type Informer,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  objectKey,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { ControllerRevision, StatefulSet } from '@orch/types/apps/v1';
import type { Pod, PodTemplateSpec } from '@orch/types/core/v1';
import { forEachBounded } from '../common/batches.js';
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
import { replaceStatus } from '../common/replace-status.js';
import { historyLimitOf, RevisionHistory, type RevisionState } from '../common/revision-history.js';
import { templateOf } from '../common/revisions.js';
import { isChanged, SelectorOverlap } from '../common/selector-overlap.js';
import { selectorOf } from '../common/selectors.js';
import { limits } from '../limits.js';
import { ordinalOf, podName, revisionOfPod, statefulPod } from './stateful-pod.js';
import { StatefulPodControl } from './stateful-pod-control.js';
import { planStatefulSet, type StatefulSetState, type Step } from './statefulset-plan.js';
import { type Progress, sameStatus, statefulSetStatus } from './statefulset-status.js';

export const statefulSetController: ControllerFactory = (context, options) => {
  const expectations = new Expectations(context.clock);
  const reconciler = new StatefulSetReconciler(context, expectations);
  return controller('statefulset', context)
    .workers(options.statefulSetSyncs)
    .for(resources.statefulSets)
    .owns(resources.pods, { selector: selectorOf, expectations })
    .reconcile((key) => reconciler.reconcile(key));
};

/** A stateful set with its revisions and pods. */
interface Claimed {
  readonly state: StatefulSetState;
  readonly revisions: RevisionState;
  readonly current: ControllerRevision;
}

class StatefulSetReconciler {
  private readonly sets: Informer<StatefulSet>;
  private readonly pods: Informer<Pod>;
  private readonly history: RevisionHistory<StatefulSet>;
  private readonly control: StatefulPodControl;
  private readonly overlap: SelectorOverlap<StatefulSet>;

  constructor(
    private readonly context: ControllerContext,
    private readonly expectations: Expectations,
  ) {
    const { client, informers } = context;
    this.sets = informers.informer(resources.statefulSets);
    this.pods = informers.informer(resources.pods);
    const hashLabel = dialect().key('hash', 'controller');
    this.history = new RevisionHistory(context, resources.statefulSets, hashLabel);
    const recorder = context.recorder('statefulset-controller');
    const claims = informers.informer(resources.persistentVolumeClaims);
    this.control = new StatefulPodControl({ client, recorder, claims });
    this.overlap = new SelectorOverlap(this.sets, recorder, selectorOf);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const cached = this.sets.lister.get(key);
    if (!cached) return done;
    const set: StatefulSet = { ...cached, apiVersion: 'apps/v1', kind: 'StatefulSet' };
    if (isChanged(set)) this.overlap.report(set);
    const isCacheCurrent = this.expectations.satisfied(key);
    const claimed = await this.claimAll(set);
    const steps = isCacheCurrent ? planStatefulSet(claimed.state) : [];
    const { progress, error } = await this.perform(claimed, steps);
    const status = statefulSetStatus(claimed.state, progress, claimed.revisions.collisionCount);
    await replaceStatus(
      this.context.client.resource(resources.statefulSets, set.metadata?.namespace),
      set,
      (latest) => (sameStatus(latest.status, status) ? undefined : { ...latest, status }),
    );
    // In a namespace that is being deleted, a retry cannot succeed.
    if (error !== undefined && !isNamespaceTerminating(error)) throw error;
    await this.pruneHistory(set, claimed);
    return done;
  }

  private async claimAll(set: StatefulSet): Promise<Claimed> {
    const owned = await this.history.claim(set);
    const pods = await claim({
      client: this.context.client,
      owner: set,
      ownerResource: resources.statefulSets,
      selector: selectorOf(set),
      dependentResource: resources.pods,
      candidates: this.podCandidates(set),
      isEligible: (pod) => ordinalOf(set, pod) !== undefined,
    });
    const revisions = await this.history.sync(set, owned);
    const { update, all } = revisions;
    const current =
      all.find(({ metadata }) => metadata?.name === set.status?.currentRevision) ?? update;
    const currentRevision = nameOf(current);
    return {
      state: { set, pods, currentRevision, updateRevision: nameOf(update) },
      revisions,
      current,
    };
  }

  /** Pods of the set, and pods without a controller that have one of its names. */
  private podCandidates(set: StatefulSet): Pod[] {
    return claimCandidates(this.pods, set).filter(
      (pod) => controllerOf(pod) !== undefined || ordinalOf(set, pod) !== undefined,
    );
  }

  /** @returns the changed pods and the first failure. */
  private async perform(
    claimed: Claimed,
    steps: readonly Step[],
  ): Promise<{ progress: Progress; error: unknown }> {
    const { set } = claimed.state;
    if (steps.length === 0) return { progress: { created: [], deleted: [] }, error: undefined };
    const created: Pod[] = [];
    const deleted: Pod[] = [];
    const key = objectKey(set);
    const deletions = steps.flatMap((step) => (isDeletion(step) ? [objectKey(step.pod)] : []));
    const creationCount = steps.filter(({ type }) => type === 'create').length;
    this.expectations.expect(key, creationCount, deletions);
    const errors = await forEachBounded(steps, limits.batchConcurrencyMax, async (step) => {
      switch (step.type) {
        case 'create':
          created.push(await this.createPod(claimed, step.ordinal, step.revision));
          return;
        case 'repair':
          return this.control.repair(set, step.ordinal, step.pod);
        case 'replace':
          this.control.announceReplacement(set, step.pod);
      }
      await this.deletePod(set, step.pod);
      deleted.push(step.pod);
    });
    return { progress: { created, deleted }, error: errors[0] };
  }

  private async createPod(
    { state, revisions, current }: Claimed,
    ordinal: number,
    revision: string,
  ): Promise<Pod> {
    const { set } = state;
    const source = revision === nameOf(revisions.update) ? set.spec?.template : templateOf(current);
    const template: PodTemplateSpec = source ?? {};
    try {
      return await this.control.create(set, ordinal, statefulPod(set, ordinal, template, revision));
    } catch (error) {
      this.expectations.creationObserved(objectKey(set));
      if (!isAlreadyExists(error)) throw error;
      throw new Error(`${podName(set, ordinal)} exists already`, { cause: error });
    }
  }

  private async deletePod(set: StatefulSet, pod: Pod): Promise<void> {
    try {
      await this.control.delete(set, pod);
    } catch (error) {
      this.expectations.deletionObserved(objectKey(set), objectKey(pod));
      // Conflict: a new pod has the name.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  private async pruneHistory(set: StatefulSet, claimed: Claimed): Promise<void> {
    const { pods, currentRevision, updateRevision } = claimed.state;
    const live = new Set([currentRevision, updateRevision, ...pods.map(revisionOfPod)]);
    const isLive = (revision: ControllerRevision) => live.has(nameOf(revision));
    await this.history.prune(set, claimed.revisions.all, isLive, historyLimitOf(set));
  }
}

function isDeletion(step: Step): step is Extract<Step, { type: 'delete' | 'replace' }> {
  return step.type === 'delete' || step.type === 'replace';
}

function nameOf(revision: ControllerRevision): string {
  return revision.metadata?.name ?? '';
}

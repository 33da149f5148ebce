/**
 * Deletes objects whose owners do not exist, and completes the other two deletion policies:
 * foreground (the owner waits for its dependents) and orphan (the dependents lose their owner). The
 * graph only selects the objects to check; before each write the object and its owners are read
 * from the server.
 */
import {
  type ApiObject,
  type EventRecorder,
  isNotFound,
  type OwnerReference,
  type WorkQueue,
} from '@orch/client';
import { dialect } from '@orch/component';
import { forEachBounded } from '../common/batches.js';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import type { ObservedObject } from '../common/resource-monitor.js';
import { limits } from '../limits.js';
import { decideDeletion, type OwnerWithState } from './deletion-decision.js';
import {
  type ForeignOwner,
  foregroundFinalizer,
  type GraphEffects,
  isWaiting,
  OwnerGraph,
  orphanFinalizer,
} from './owner-graph.js';
import { OwnerStates, UnresolvableOwnerError } from './owner-states.js';
import { ResourceSet } from './resource-set.js';

/** Definitions are watched; this is for changes that no definition announces. */
const discoveryPeriodMs = 300_000;
/** Pause after a discovery that missed a group. */
const discoveryRetryMs = 5_000;
/** When an object is checked again whose owner exists on the server but not in the graph. */
const unseenOwnerMs = 10_000;

export const garbageCollector: ControllerFactory = (context, options) => {
  if (!options.enableGarbageCollector) return undefined;
  const builder = controller('garbage_collector', context);
  const workerCount = options.garbageCollectorSyncs;
  const collector: GarbageCollector = new GarbageCollector(context, {
    deletions: builder.extraQueue(
      'garbage_collector_attempt_to_delete',
      workerCount,
      (uid, signal) => collector.attemptToDelete(uid, signal),
    ),
    orphanings: builder.extraQueue(
      'garbage_collector_attempt_to_orphan',
      workerCount,
      (uid, signal) => collector.attemptToOrphan(uid, signal),
    ),
  });
  const discoveries = builder.extraQueue('garbage_collector_discovery', 1, async () => {
    const isComplete = await collector.refreshResources();
    return isComplete ? done : { requeueAfterMs: discoveryRetryMs };
  });
  const discover = () => discoveries.add('resources');
  return builder
    .every(discoveryPeriodMs, async () => discover())
    .onServedResources(discover)
    .onStop(() => collector.stop())
    .build();
};

interface GarbageQueues {
  /** Uids of objects to delete if their owners do not exist. */
  readonly deletions: WorkQueue;
  /** Uids of owners to remove from their dependents. */
  readonly orphanings: WorkQueue;
}

class GarbageCollector {
  private readonly graph = new OwnerGraph();
  private readonly resources: ResourceSet;
  private readonly states: OwnerStates;
  private readonly recorder: EventRecorder;

  constructor(
    private readonly context: ControllerContext,
    private readonly queues: GarbageQueues,
  ) {
    this.resources = new ResourceSet(context, {
      observe: (object) => this.observe(object),
      remove: (uid) => this.enqueue(this.graph.remove(uid)),
    });
    this.states = new OwnerStates(context.client, this.resources);
    this.recorder = context.recorder('garbage-collector-controller');
  }

  refreshResources(): Promise<boolean> {
    return this.resources.refresh();
  }

  stop(): void {
    this.resources.stop();
  }

  private observe(object: ObservedObject): void {
    if (this.graph.nodeCount >= limits.graphNodeCountMax) {
      throw new Error(`the owner graph is full: it holds ${limits.graphNodeCountMax} objects`);
    }
    this.enqueue(this.graph.observe(object));
  }

  private enqueue(effects: GraphEffects): void {
    for (const uid of effects.check) this.queues.deletions.add(uid);
    for (const uid of effects.orphan) this.queues.orphanings.add(uid);
    for (const foreign of effects.foreign) this.report(foreign);
  }

  /** Reports an object whose owner is in another namespace; that owner counts as absent. */
  private report({ dependent, reference }: ForeignOwner): void {
    const { name, namespace, uid, resource } = dependent;
    const { group, version, kind } = resource;
    const apiVersion = dialect().apiVersion(group, version);
    const owner = `[${reference.apiVersion}/${reference.kind}, namespace: ${namespace}, name: ${reference.name}, uid: ${reference.uid}]`;
    const message = `ownerRef ${owner} does not exist in namespace "${namespace}"`;
    const regarding = { apiVersion, kind, name, namespace, uid };
    this.recorder.event(regarding, 'Warning', 'OwnerRefInvalidNamespace', message);
  }

  private clientOf(node: ObservedObject) {
    const { resource, namespace } = node;
    return this.context.client.metadata(resource, resource.namespaced ? namespace : undefined);
  }

  /** Reads the object from the server. Removes it from the graph if it does not exist. */
  private async latestOf(node: ObservedObject): Promise<ApiObject | undefined> {
    const latest = await ignoring(this.clientOf(node).get(node.name), isNotFound);
    if (latest?.metadata?.uid === node.uid) return latest;
    this.enqueue(this.graph.remove(node.uid));
    return undefined;
  }

  /** Deletes the object if its owners do not exist. */
  async attemptToDelete(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    // Until all dependents are known, an owner could be taken for one without dependents.
    await this.resources.whenSynced(signal);
    const node = this.graph.get(uid);
    if (!node || signal.aborted) return done;
    if (isWaiting(node)) return this.checkWaiting(node);
    if (node.isBeingDeleted || this.hasOnlySolidOwners(node)) return done;
    const latest = await this.latestOf(node);
    if (!latest || latest.metadata?.deletionTimestamp) return done;
    const owners: OwnerWithState[] = [];
    for (const reference of latest.metadata?.ownerReferences ?? []) {
      try {
        const state = await this.states.stateOf(reference, node.namespace);
        owners.push({ reference, state });
      } catch (error) {
        if (!(error instanceof UnresolvableOwnerError)) throw error;
        this.context.logger.warn({ err: error, name: node.name }, 'owner cannot be resolved');
        return done;
      }
    }
    await this.applyDecision(node, latest, owners);
    const isUnseen = owners.some(
      ({ reference, state }) => state === 'solid' && !this.graph.get(reference.uid ?? ''),
    );
    return isUnseen ? { requeueAfterMs: unseenOwnerMs } : done;
  }

  /**
   * Whether all owners exist in the graph and stay. The removal of one enqueues the object again.
   */
  private hasOnlySolidOwners(node: ObservedObject): boolean {
    return node.owners.every((reference) => {
      const owner = this.graph.get(reference.uid ?? '');
      return (
        owner !== undefined &&
        !isWaiting(owner) &&
        owner.name === reference.name &&
        owner.resource.kind === reference.kind &&
        (!owner.resource.namespaced || owner.namespace === node.namespace)
      );
    });
  }

  private async applyDecision(
    node: ObservedObject,
    latest: ApiObject,
    owners: readonly OwnerWithState[],
  ): Promise<void> {
    const dependents = this.graph.dependentsOf(node.uid);
    const decision = decideDeletion({
      owners,
      finalizers: latest.metadata?.finalizers ?? [],
      dependentCount: dependents.length,
      isInCycle: dependents.some(isWaiting),
    });
    if (decision.action === 'keep') return;
    if (decision.action === 'dropOwners') {
      await this.patchOwners(node, latest, (owner) => !decision.uids.includes(owner.uid ?? ''));
      return;
    }
    if (decision.mustUnblock) await this.unblockOwners(node, latest);
    const deletion = this.clientOf(node).delete(node.name, {
      propagationPolicy: decision.policy,
      preconditions: { uid: node.uid },
    });
    await ignoring(deletion, isNotFound);
  }

  /** Releases a waiting owner if no dependent blocks it; otherwise checks its dependents. */
  private async checkWaiting(node: ObservedObject): Promise<ReconcileResult> {
    const latest = await this.latestOf(node);
    if (!latest) return done;
    const blocking = this.graph.blockingDependents(node.uid);
    if (blocking.length === 0) {
      await this.removeFinalizer(node, latest, foregroundFinalizer);
      return done;
    }
    for (const dependent of blocking) {
      if (!isWaiting(dependent)) this.queues.deletions.add(dependent.uid);
    }
    return done;
  }

  /** Removes the owner from its dependents, then releases it. */
  async attemptToOrphan(uid: string, signal: AbortSignal): Promise<ReconcileResult> {
    await this.resources.whenSynced(signal);
    const owner = this.graph.get(uid);
    if (!owner || signal.aborted) return done;
    const errors = await forEachBounded(
      this.graph.dependentsOf(uid),
      limits.batchConcurrencyMax,
      async (dependent) => {
        const latest = await this.latestOf(dependent);
        if (latest) await this.patchOwners(dependent, latest, (reference) => reference.uid !== uid);
      },
    );
    if (errors.length > 0) throw errors[0];
    const latest = await this.latestOf(owner);
    if (latest) await this.removeFinalizer(owner, latest, orphanFinalizer);
    return done;
  }

  private async patchOwners(
    node: ObservedObject,
    latest: ApiObject,
    keep: (owner: OwnerReference) => boolean,
  ): Promise<void> {
    const before = latest.metadata?.ownerReferences ?? [];
    const ownerReferences = before.filter(keep);
    if (ownerReferences.length < before.length) {
      await this.patchMetadata(node, latest, { ownerReferences });
    }
  }

  private async unblockOwners(node: ObservedObject, latest: ApiObject): Promise<void> {
    const ownerReferences = (latest.metadata?.ownerReferences ?? []).map((owner) =>
      owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner,
    );
    await this.patchMetadata(node, latest, { ownerReferences });
  }

  private async removeFinalizer(
    node: ObservedObject,
    latest: ApiObject,
    finalizer: string,
  ): Promise<void> {
    const before = latest.metadata?.finalizers ?? [];
    const finalizers = before.filter((name) => name !== finalizer);
    if (finalizers.length < before.length) await this.patchMetadata(node, latest, { finalizers });
  }

  /** Patches exactly the version that was read: a conflict throws, and the retry reads again. */
  private async patchMetadata(
    node: ObservedObject,
    latest: ApiObject,
    change: object,
  ): Promise<void> {
    const { uid, resourceVersion } = latest.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, ...change } };
    await ignoring(this.clientOf(node).patch(node.name, body, { type: 'merge' }), isNotFound);
  }
}

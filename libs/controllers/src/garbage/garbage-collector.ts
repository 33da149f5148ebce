/**
 * Deletes what belongs to nothing any more, and carries out the two other ways of deletion: foreground
 * (the owner waits for its dependents) and orphan (the dependents are set free). The graph says where to
 * look; before anything is written the object and its owners are read from the server.
 */
import { type ApiObject, isNotFound, type WorkQueue } from '@orch/client';
import { forEachBounded } from '../common/batches.js';
import { every } from '../common/every.js';
import { limits } from '../limits.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import {
  foregroundFinalizer,
  type GraphEffects,
  isWaiting,
  type ObservedObject,
  OwnerGraph,
  orphanFinalizer,
} from './owner-graph.js';
import { OwnerStates, UnresolvableOwnerError } from './owner-states.js';
import { ResourceSet } from './resource-set.js';
import { type Judged, verdictOn } from './verdict.js';

const discoveryPeriodMs = 30_000;
const syncCheckMs = 100;
/** An owner that the server knows and the graph does not is looked for again after this. */
const unseenOwnerMs = 10_000;

export class GarbageCollector implements Controller {
  private readonly graph = new OwnerGraph();
  private readonly resources: ResourceSet;
  private readonly states: OwnerStates;
  private readonly checks: WorkQueue;
  private readonly orphans: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.resources = new ResourceSet(context, {
      observe: (object) => this.observe(object),
      remove: (uid) => this.enqueue(this.graph.remove(uid)),
    });
    this.states = new OwnerStates(context.client, this.resources);
    this.checks = queueFor(context, 'garbage_collector_attempt_to_delete');
    this.orphans = queueFor(context, 'garbage_collector_attempt_to_orphan');
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context;
    await Promise.all([
      workOff(this.checks, this.workerCount, signal, (uid) =>
        this.whenSynced(signal, () => this.check(uid)),
      ),
      workOff(this.orphans, this.workerCount, signal, (uid) =>
        this.whenSynced(signal, () => this.orphanDependents(uid)),
      ),
      every(discoveryPeriodMs, clock, logger, signal, () => this.resources.refresh()),
    ]);
    this.resources.stop();
  }

  private observe(object: ObservedObject): void {
    if (this.graph.nodeCount >= limits.graphNodeCountMax) {
      throw new Error(`the graph holds ${limits.graphNodeCountMax} objects already`);
    }
    this.enqueue(this.graph.observe(object));
  }

  private enqueue(effects: GraphEffects): void {
    for (const uid of effects.check) this.checks.add(uid);
    for (const uid of effects.orphan) this.orphans.add(uid);
  }

  /** Without all dependents in sight, an owner could be taken for free of them too early. */
  private async whenSynced(
    signal: AbortSignal,
    act: () => Promise<number | undefined>,
  ): Promise<number | undefined> {
    while (!this.resources.hasSynced()) {
      await new Promise<void>((resolve) => this.context.clock.setTimer(syncCheckMs, resolve));
      if (signal.aborted) return undefined;
    }
    return act();
  }

  private handleOf(node: ObservedObject) {
    const { resource, namespace } = node;
    return this.context.client.metadata(resource, resource.namespaced ? namespace : undefined);
  }

  /** The object as it is now; undefined (and out of the graph) when it is gone. */
  private async latestOf(node: ObservedObject): Promise<ApiObject | undefined> {
    try {
      const latest = await this.handleOf(node).get(node.name);
      if (latest.metadata?.uid === node.uid) return latest;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.enqueue(this.graph.remove(node.uid));
    return undefined;
  }

  private async check(uid: string): Promise<number | undefined> {
    const node = this.graph.get(uid);
    if (!node) return undefined;
    if (isWaiting(node)) return this.checkWaiting(node);
    if (node.isBeingDeleted || this.hasOnlySolidOwners(node)) return undefined;
    const latest = await this.latestOf(node);
    if (!latest || latest.metadata?.deletionTimestamp) return undefined;
    const owners: Judged[] = [];
    for (const reference of latest.metadata?.ownerReferences ?? []) {
      try {
        const state = await this.states.stateOf(reference, node.namespace);
        owners.push({ reference, state });
      } catch (error) {
        if (!(error instanceof UnresolvableOwnerError)) throw error;
        this.context.logger.warn({ err: error, name: node.name }, 'owner cannot be followed');
        return undefined;
      }
    }
    await this.carryOut(node, latest, owners);
    const isUnseen = owners.some(
      ({ reference, state }) => state === 'solid' && !this.graph.get(reference.uid ?? ''),
    );
    return isUnseen ? unseenOwnerMs : undefined;
  }

  /** By what is in sight; the removal of an owner from it brings the object up again. */
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

  private async carryOut(
    node: ObservedObject,
    latest: ApiObject,
    owners: readonly Judged[],
  ): Promise<void> {
    const dependents = this.graph.dependentsOf(node.uid);
    const verdict = verdictOn({
      owners,
      finalizers: latest.metadata?.finalizers ?? [],
      dependentCount: dependents.length,
      isInCycle: dependents.some(isWaiting),
    });
    if (verdict.action === 'keep') return;
    if (verdict.action === 'dropOwners') {
      await this.patchOwners(node, latest, (owner) => !verdict.uids.includes(owner.uid ?? ''));
      return;
    }
    if (verdict.mustUnblock) await this.unblockOwners(node, latest);
    await this.tolerate(() =>
      this.handleOf(node).delete(node.name, {
        propagationPolicy: verdict.policy,
        preconditions: { uid: node.uid },
      }),
    );
  }

  /** An owner that waits is let go when nothing blocks it; until then its dependents are seen to. */
  private async checkWaiting(node: ObservedObject): Promise<number | undefined> {
    const latest = await this.latestOf(node);
    if (!latest) return undefined;
    const blocking = this.graph.blockingDependents(node.uid);
    if (blocking.length === 0) {
      await this.removeFinalizer(node, latest, foregroundFinalizer);
      return undefined;
    }
    for (const dependent of blocking) if (!isWaiting(dependent)) this.checks.add(dependent.uid);
    return undefined;
  }

  private async orphanDependents(uid: string): Promise<number | undefined> {
    const owner = this.graph.get(uid);
    if (!owner) return undefined;
    const errors = await forEachBounded(
      this.graph.dependentsOf(uid),
      limits.batchConcurrencyMax,
      async (dependent) => {
        const latest = await this.latestOf(dependent);
        if (latest) await this.patchOwners(dependent, latest, (one) => one.uid !== uid);
      },
    );
    if (errors.length > 0) throw errors[0];
    const latest = await this.latestOf(owner);
    if (latest) await this.removeFinalizer(owner, latest, orphanFinalizer);
    return undefined;
  }

  private async patchOwners(
    node: ObservedObject,
    latest: ApiObject,
    keep: (owner: NonNullable<NonNullable<ApiObject['metadata']>['ownerReferences']>[0]) => boolean,
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
    const finalizers = before.filter((one) => one !== finalizer);
    if (finalizers.length < before.length) await this.patchMetadata(node, latest, { finalizers });
  }

  /** On top of exactly what was read. */
  private async patchMetadata(
    node: ObservedObject,
    latest: ApiObject,
    change: object,
  ): Promise<void> {
    const { uid, resourceVersion } = latest.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, ...change } };
    await this.tolerate(() => this.handleOf(node).patch(node.name, body, { type: 'merge' }));
  }

  /** Gone is as good as done. A conflict is thrown: the next attempt sees what is there then. */
  private async tolerate(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

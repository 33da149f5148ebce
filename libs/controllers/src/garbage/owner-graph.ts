/**
 * Owners and dependents of all objects in the cluster. Pure: returns the objects to check for each
 * observation. The graph may be stale, so that the check itself reads from the server.
 */
import type { OwnerReference } from '@orch/types/meta/v1';
import type { ObservedObject } from '../common/resource-monitor.js';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** A reference to an owner in another namespace, which counts as absent. */
export interface ForeignOwner {
  readonly dependent: ObservedObject;
  readonly reference: OwnerReference;
}

/** Uids to check for deletion, and uids of owners whose dependents become orphans. */
export interface GraphEffects {
  readonly check: Iterable<string>;
  readonly orphan: Iterable<string>;
  /** Newly observed references. */
  readonly foreign: readonly ForeignOwner[];
}

export class OwnerGraph {
  private readonly nodes = new Map<string, ObservedObject>();
  private readonly dependents = new Map<string, Map<string, ObservedObject>>();

  get nodeCount(): number {
    return this.nodes.size;
  }

  get(uid: string): ObservedObject | undefined {
    return this.nodes.get(uid);
  }

  dependentsOf(uid: string): ObservedObject[] {
    return [...(this.dependents.get(uid)?.values() ?? [])];
  }

  /** Dependents that a waiting owner has to wait for. */
  blockingDependents(uid: string): ObservedObject[] {
    return this.dependentsOf(uid).filter((dependent) =>
      dependent.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    );
  }

  observe(object: ObservedObject): GraphEffects {
    const before = this.nodes.get(object.uid);
    this.nodes.set(object.uid, object);
    this.link(object, before);
    const check = new Set<string>();
    if (isWaiting(object) && !(before && isWaiting(before))) {
      check.add(object.uid);
      for (const dependent of this.dependentsOf(object.uid)) check.add(dependent.uid);
    }
    for (const owner of object.owners) {
      const node = this.nodes.get(owner.uid ?? '');
      // Not observed yet, or deleted: the check reads it from the server.
      if (!node || isWaiting(node) || isForeign(object, node)) check.add(object.uid);
    }
    for (const owner of releasedOwners(object, before)) {
      const node = this.nodes.get(owner);
      if (node && isWaiting(node)) check.add(owner);
    }
    const isNewOrphaner = isOrphaning(object) && !(before && isOrphaning(before));
    const foreign = this.foreignOwners(object, before);
    return { check, orphan: isNewOrphaner ? [object.uid] : [], foreign };
  }

  remove(uid: string): GraphEffects {
    const before = this.nodes.get(uid);
    const check = new Set(this.dependents.get(uid)?.keys() ?? []);
    if (before) {
      this.nodes.delete(uid);
      this.unlink(before);
      for (const owner of before.owners) {
        const node = this.nodes.get(owner.uid ?? '');
        if (node && isWaiting(node)) check.add(node.uid);
      }
    }
    return { check, orphan: [], foreign: [] };
  }

  private foreignOwners(
    object: ObservedObject,
    before: ObservedObject | undefined,
  ): ForeignOwner[] {
    const foreign: ForeignOwner[] = [];
    for (const reference of object.owners) {
      const isNew = !before?.owners.some(({ uid }) => uid === reference.uid);
      if (isNew && isForeign(object, this.nodes.get(reference.uid ?? ''))) {
        foreign.push({ dependent: object, reference });
      }
    }
    if (before) return foreign;
    for (const dependent of this.dependents.get(object.uid)?.values() ?? []) {
      if (!isForeign(dependent, object)) continue;
      const reference = dependent.owners.find(({ uid }) => uid === object.uid);
      if (reference) foreign.push({ dependent, reference });
    }
    return foreign;
  }

  private link(object: ObservedObject, before: ObservedObject | undefined): void {
    if (before) this.unlink(before);
    for (const { uid = '' } of object.owners) {
      const dependents = this.dependents.get(uid) ?? new Map<string, ObservedObject>();
      dependents.set(object.uid, object);
      this.dependents.set(uid, dependents);
    }
  }

  private unlink(object: ObservedObject): void {
    for (const { uid = '' } of object.owners) {
      const dependents = this.dependents.get(uid);
      dependents?.delete(object.uid);
      if (dependents?.size === 0) this.dependents.delete(uid);
    }
  }
}

/** Whether the object is deleted after its dependents (foreground deletion). */
export function isWaiting(object: ObservedObject): boolean {
  return object.isBeingDeleted && object.finalizers.includes(foregroundFinalizer);
}

/**
 * Whether the object cannot be owned by `owner`: only cluster-scoped owners have any dependents.
 */
function isForeign(object: ObservedObject, owner: ObservedObject | undefined): boolean {
  if (!owner?.resource.namespaced) return false;
  return owner.namespace !== object.namespace;
}

function isOrphaning(object: ObservedObject): boolean {
  return object.isBeingDeleted && object.finalizers.includes(orphanFinalizer);
}

/** Uids of owners that the object no longer references or no longer blocks. */
function releasedOwners(object: ObservedObject, before: ObservedObject | undefined): string[] {
  const blocked = ({ owners }: ObservedObject) =>
    owners.filter((owner) => owner.blockOwnerDeletion).map((owner) => owner.uid ?? '');
  const stillBlocked = new Set(blocked(object));
  return before ? blocked(before).filter((uid) => !stillBlocked.has(uid)) : [];
}

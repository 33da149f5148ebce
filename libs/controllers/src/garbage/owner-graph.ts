/**
 * Who belongs to whom, for every object in the cluster. Pure: observations go in, and out come the
 * objects that have to be looked at. The graph only says where to look; whether an owner is really gone
 * is always asked of the server.
 */
import type { DiscoveredResource } from '@orch/client';
import type { OwnerReference } from '@orch/types/meta/v1';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

export interface ObservedObject {
  readonly uid: string;
  readonly resource: DiscoveredResource;
  readonly namespace: string;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly isBeingDeleted: boolean;
  readonly finalizers: readonly string[];
}

/** Uids to look at: for deletion, or for giving their dependents free. */
export interface GraphEffects {
  readonly check: Iterable<string>;
  readonly orphan: Iterable<string>;
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

  /** An object that waits for its dependents keeps those that block it waiting. */
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
      // Not seen yet, or gone already: the server knows.
      if (!node || isWaiting(node)) check.add(object.uid);
    }
    for (const owner of releasedOwners(object, before)) {
      const node = this.nodes.get(owner);
      if (node && isWaiting(node)) check.add(owner);
    }
    const isNewOrphaner = isOrphaning(object) && !(before && isOrphaning(before));
    return { check, orphan: isNewOrphaner ? [object.uid] : [] };
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
    return { check, orphan: [] };
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

/** Is being deleted once its dependents are. */
export function isWaiting(object: ObservedObject): boolean {
  return object.isBeingDeleted && object.finalizers.includes(foregroundFinalizer);
}

function isOrphaning(object: ObservedObject): boolean {
  return object.isBeingDeleted && object.finalizers.includes(orphanFinalizer);
}

/** Owners that the object no longer refers to, or no longer blocks. */
function releasedOwners(object: ObservedObject, before: ObservedObject | undefined): string[] {
  const blocked = (one: ObservedObject) =>
    one.owners.filter((owner) => owner.blockOwnerDeletion).map((owner) => owner.uid ?? '');
  const now = new Set(blocked(object));
  return before ? blocked(before).filter((uid) => !now.has(uid)) : [];
}

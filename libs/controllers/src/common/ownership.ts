/** Turns changes of dependents into the keys of their owners. */
import { controllerOf, type LabelSelector } from '@orch/apimachinery';
import {
  type ApiObject,
  type Informer,
  type KnownResource,
  objectKey,
  type WorkQueue,
} from '@orch/client';
import type { ControllerContext } from './controller.js';
import { cachedOwner, indexDependents } from './dependents.js';
import type { Expectations } from './expectations.js';

export interface OwnsOptions<Owner, Dependent> {
  /** The dependents that an owner adopts if nothing controls them. */
  readonly selector: (owner: Owner) => LabelSelector;
  /** Receives the creations and deletions of dependents that the cache has seen. */
  readonly expectations?: Expectations;
  /** Whether an update may change what the owner reconciles; every update by default. */
  readonly concernsOwner?: (dependent: Dependent, old: Dependent) => boolean;
  /** Enqueues the owner of an updated dependent once more after this time. */
  readonly requeueAfterMs?: (
    owner: Owner,
    dependent: Dependent,
    old: Dependent,
  ) => number | undefined;
}

export function watchOwned<Owner extends ApiObject, Dependent extends ApiObject>(
  { informers }: ControllerContext,
  queue: WorkQueue,
  ownerResource: KnownResource<Owner>,
  resource: KnownResource<Dependent>,
  options: OwnsOptions<Owner, Dependent>,
): void {
  const owners = informers.informer(ownerResource);
  const dependents = informers.informer(resource);
  indexDependents(dependents);
  const handlers = new DependentHandlers(queue, owners, ownerResource.kind, options);
  dependents.addHandlers({
    onAdd: (dependent) => handlers.added(dependent),
    onUpdate: (dependent, old) => handlers.updated(dependent, old),
    onDelete: (dependent) => handlers.deleted(dependent),
  });
  const { expectations } = options;
  if (expectations) {
    owners.addHandlers({ onDelete: (owner) => expectations.forget(objectKey(owner)) });
  }
}

class DependentHandlers<Owner extends ApiObject, Dependent extends ApiObject> {
  constructor(
    private readonly queue: WorkQueue,
    private readonly owners: Informer<Owner>,
    private readonly ownerKind: string,
    private readonly options: OwnsOptions<Owner, Dependent>,
  ) {}

  added(dependent: Dependent): void {
    if (dependent.metadata?.deletionTimestamp) {
      this.deleted(dependent);
      return;
    }
    const owner = this.ownerOf(dependent);
    if (owner) {
      const key = objectKey(owner);
      this.options.expectations?.creationObserved(key);
      this.queue.add(key);
    } else this.enqueueAdopters(dependent);
  }

  updated(dependent: Dependent, old: Dependent): void {
    if (dependent.metadata?.deletionTimestamp) {
      this.deleted(dependent);
      return;
    }
    if (this.belongsToOthers(dependent) && this.belongsToOthers(old)) return;
    // A resync passes the same object twice.
    const isSame = dependent !== old && this.options.concernsOwner?.(dependent, old) === false;
    if (isSame) return;
    const owner = this.ownerOf(dependent);
    const oldOwner = this.ownerOf(old);
    if (oldOwner && oldOwner !== owner) this.queue.add(objectKey(oldOwner));
    if (!owner) {
      this.enqueueAdopters(dependent);
      return;
    }
    this.queue.add(objectKey(owner));
    const requeueAfterMs = this.options.requeueAfterMs?.(owner, dependent, old);
    if (requeueAfterMs !== undefined) this.queue.addAfter(objectKey(owner), requeueAfterMs);
  }

  /** The deletion of an object without a controller enqueues no owner. */
  deleted(dependent: Dependent): void {
    const owner = this.ownerOf(dependent);
    if (!owner) return;
    this.options.expectations?.deletionObserved(objectKey(owner), objectKey(dependent));
    this.queue.add(objectKey(owner));
  }

  private ownerOf(dependent: Dependent): Owner | undefined {
    return cachedOwner(this.owners, this.ownerKind, dependent);
  }

  /** Whether a controller of another kind has the object, so that it concerns no owner here. */
  private belongsToOthers(dependent: Dependent): boolean {
    const controller = controllerOf(dependent);
    return controller !== undefined && controller.kind !== this.ownerKind;
  }

  private enqueueAdopters(dependent: Dependent): void {
    if (controllerOf(dependent)) return;
    for (const owner of this.owners.lister.list(dependent.metadata?.namespace ?? '')) {
      const isSelected = this.options.selector(owner).matches(dependent.metadata?.labels);
      if (isSelected) this.queue.add(objectKey(owner));
    }
  }
}

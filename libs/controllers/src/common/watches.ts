/** Turns changes of one resource into keys of a queue. */
import type { ApiObject, InformerSelection, KnownResource, WorkQueue } from '@orch/client';
import type { ControllerContext } from './controller.js';

/** Which changes enqueue; all by default. */
export interface Predicates<T> {
  readonly create?: (object: T) => boolean;
  /** `object === old` on a resync. */
  readonly update?: (object: T, old: T) => boolean;
  readonly delete?: (object: T) => boolean;
}

export interface WatchOptions<T> extends Predicates<T> {
  /** Watches only a part of the objects. */
  readonly selection?: InformerSelection;
  /** Enqueues after this time, so that changes in quick succession are reconciled once. */
  readonly delayMs?: (object: T) => number;
}

/** The predicate of changes that enqueue nothing. */
export const never = (): boolean => false;

export function watch<T extends ApiObject>(
  { informers }: ControllerContext,
  queue: WorkQueue,
  resource: KnownResource<T>,
  map: (object: T) => Iterable<string>,
  options: WatchOptions<T>,
): void {
  const enqueue = (object: T, keys: Iterable<string>) => {
    const delayMs = options.delayMs?.(object) ?? 0;
    for (const key of keys) queue.addAfter(key, delayMs);
  };
  informers.informer(resource, options.selection).addHandlers({
    onAdd(object) {
      if (options.create?.(object) ?? true) enqueue(object, map(object));
    },
    onUpdate(object, old) {
      if (!(options.update?.(object, old) ?? true)) return;
      enqueue(object, object === old ? map(object) : new Set([...map(old), ...map(object)]));
    },
    onDelete(object) {
      if (options.delete?.(object) ?? true) enqueue(object, map(object));
    },
  });
}

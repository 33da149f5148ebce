/**
 * What deleting an object comes to: decisions on finalizers, grace and generation, without a store.
 * An object goes in two steps where something holds it: it is marked, and goes when nothing is left
 * in its finalizers.
 */
import type { ApiObject, DefaultPropagation, ResourceDefinition, StrategyContext } from '@orch/api';
import { formatTime, parseTime } from '@orch/apimachinery';
import type { DeleteOptions } from './delete-options.js';

export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

export type DeletionStep =
  /** Remove it now. */
  | { readonly kind: 'remove' }
  /** Store the changed object; then remove it immediately or leave it to its finalizers. */
  | { readonly kind: 'update'; readonly object: ApiObject; readonly thenRemove: boolean }
  /** It is on its way already. */
  | { readonly kind: 'none' };

/** As the version that the client deletes in has it, or else the kind. */
function defaultPropagation(
  definition: ResourceDefinition,
  { requestVersion }: StrategyContext,
): DefaultPropagation {
  const served = definition.versions.find(
    ({ group, version }) => group === requestVersion?.group && version === requestVersion.version,
  );
  return served?.defaultPropagation ?? definition.defaultPropagation ?? 'background';
}

/** Finalizers after the propagation policy has had its say; undefined when nothing changes. */
export function propagationFinalizers(
  finalizers: readonly string[],
  options: DeleteOptions,
  propagation: DefaultPropagation,
): string[] | undefined {
  if (propagation === 'unsupported') return undefined;
  const orphan = orphans(finalizers, options, propagation);
  const foreground = foregrounds(finalizers, options);
  const next = finalizers.filter(
    (finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer,
  );
  if (orphan) next.push(orphanFinalizer);
  if (foreground) next.push(foregroundFinalizer);
  const changed =
    next.length !== finalizers.length || next.some((finalizer) => !finalizers.includes(finalizer));
  return changed ? next : undefined;
}

function orphans(
  finalizers: readonly string[],
  options: DeleteOptions,
  propagation: DefaultPropagation,
): boolean {
  if (options.orphanDependents !== undefined) return options.orphanDependents;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Orphan';
  for (const finalizer of finalizers) {
    if (finalizer === orphanFinalizer) return true;
    if (finalizer === foregroundFinalizer) return false;
  }
  return propagation === 'orphan';
}

function foregrounds(finalizers: readonly string[], options: DeleteOptions): boolean {
  if (options.orphanDependents !== undefined) return false;
  if (options.propagationPolicy !== undefined) return options.propagationPolicy === 'Foreground';
  for (const finalizer of finalizers) {
    if (finalizer === foregroundFinalizer) return true;
    if (finalizer === orphanFinalizer) return false;
  }
  return false;
}

/** Deleting begins: controllers that watch the generation look again. */
function bumpGeneration(object: ApiObject): void {
  const { metadata } = object;
  if (metadata?.generation) metadata.generation += 1;
}

type Grace = 'none' | 'started' | 'pending';

/** Sets the marks of a graceful deletion on `object` where its kind has one. */
function beginGrace(
  object: ApiObject,
  options: DeleteOptions,
  definition: ResourceDefinition,
  nowMs: number,
): Grace {
  const graceOf = definition.deletionGracePeriodSeconds;
  const metadata = object.metadata!;
  if (!graceOf) return 'none';
  const held = metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined) {
    if (held === undefined) return 'none';
    const asked = options.gracePeriodSeconds;
    if (asked === undefined || asked >= held) return 'pending';
    const begunMs = (parseTime(metadata.deletionTimestamp) ?? nowMs) - held * 1_000;
    metadata.deletionTimestamp = formatTime(begunMs + asked * 1_000);
    metadata.deletionGracePeriodSeconds = asked;
    return 'started';
  }
  const graceSeconds = graceOf(object, options.gracePeriodSeconds);
  metadata.deletionTimestamp = formatTime(nowMs + graceSeconds * 1_000);
  metadata.deletionGracePeriodSeconds = graceSeconds;
  bumpGeneration(object);
  return 'started';
}

function markDeleting(object: ApiObject, nowMs: number, definition: ResourceDefinition): boolean {
  const metadata = object.metadata!;
  // Kinds with something to clear away first (namespaces, definitions) have no grace to speak of.
  const isContainer = Boolean(definition.specFinalizers || definition.cleanupFinalizer);
  const graceSeconds = isContainer ? undefined : 0;
  if (
    metadata.deletionTimestamp !== undefined &&
    metadata.deletionGracePeriodSeconds === graceSeconds
  ) {
    return false;
  }
  if (metadata.deletionTimestamp === undefined) {
    if (!definition.cleanupFinalizer) bumpGeneration(object);
    metadata.deletionTimestamp = formatTime(nowMs);
  }
  if (graceSeconds !== undefined) metadata.deletionGracePeriodSeconds = graceSeconds;
  return true;
}

/** What deleting `object` does; changes `object`, which the caller has to itself. */
export function planDeletion(
  object: ApiObject,
  options: DeleteOptions,
  definition: ResourceDefinition,
  context: StrategyContext,
  nowMs: number,
): DeletionStep {
  const metadata = object.metadata!;
  const beginning = metadata.deletionTimestamp === undefined;
  const grace = beginGrace(object, options, definition, nowMs);
  if (grace === 'pending') return { kind: 'none' };
  const finalizers = propagationFinalizers(
    metadata.finalizers ?? [],
    options,
    defaultPropagation(definition, context),
  );
  if (finalizers) setFinalizers(object, finalizers);
  if (beginning && definition.cleanupFinalizer) addFinalizer(object, definition.cleanupFinalizer());
  const held =
    (metadata.finalizers?.length ?? 0) > 0 || (definition.specFinalizers?.(object).length ?? 0) > 0;
  if (grace === 'started') {
    if (beginning) definition.prepareForDelete?.(object, context);
    const graceSeconds = metadata.deletionGracePeriodSeconds ?? 0;
    // A negative grace period is stored unchanged: only immediate deletions remove the object.
    return { kind: 'update', object, thenRemove: !held && graceSeconds === 0 };
  }
  if (!held) return { kind: 'remove' };
  const marked = markDeleting(object, nowMs, definition);
  if (beginning) definition.prepareForDelete?.(object, context);
  return marked || finalizers ? { kind: 'update', object, thenRemove: false } : { kind: 'none' };
}

function addFinalizer(object: ApiObject, finalizer: string): void {
  const finalizers = object.metadata!.finalizers ?? [];
  if (!finalizers.includes(finalizer)) setFinalizers(object, [...finalizers, finalizer]);
}

/** Sets finalizers; none leaves no empty list behind. */
export function setFinalizers(object: ApiObject, finalizers: readonly string[]): void {
  if (finalizers.length === 0) delete object.metadata!.finalizers;
  else object.metadata!.finalizers = [...finalizers];
}

/** An update that takes the last finalizer away removes the object. */
export function removedByUpdate(
  object: ApiObject,
  existing: ApiObject,
  definition: ResourceDefinition,
): boolean {
  if ((object.metadata?.finalizers?.length ?? 0) > 0) return false;
  const marked = existing.metadata;
  if (marked?.deletionTimestamp === undefined) return false;
  if (definition.specFinalizers) {
    return (
      definition.specFinalizers(object).length === 0 &&
      (marked.deletionGracePeriodSeconds ?? 0) === 0
    );
  }
  if (definition.cleanupFinalizer) return (marked.deletionGracePeriodSeconds ?? 0) === 0;
  return marked.deletionGracePeriodSeconds === 0;
}

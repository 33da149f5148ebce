/** Who uses claims and volumes, and the finalizers that hold them so long. Pure. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { claimNames } from '../common/pod-claims.js';

/** One without a node may not start any more with a claim that is being deleted. */
export function usesClaim(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return Boolean(pod.spec?.nodeName) && claimNames(pod).includes(metadata?.name ?? '');
}

export function isBound({ status }: PersistentVolume): boolean {
  return status?.phase === 'Bound';
}

export interface Held {
  readonly metadata?: ObjectMeta;
}

/** The object with the finalizer; undefined if it has it or is being deleted. */
export function protectedObject<T extends Held>(object: T, finalizer: string): T | undefined {
  const { metadata } = object;
  const held = metadata?.finalizers ?? [];
  if (metadata?.deletionTimestamp || held.includes(finalizer)) return undefined;
  return { ...object, metadata: { ...metadata, finalizers: [...held, finalizer] } };
}

/** Whether it is to be deleted and only waits for what uses it. */
export function isAwaited({ metadata }: Held, finalizer: string): boolean {
  return (
    metadata?.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer)
  );
}

/** The object without the finalizer. */
export function releasedObject<T extends Held>(object: T, finalizer: string): T {
  const finalizers = (object.metadata?.finalizers ?? []).filter((one) => one !== finalizer);
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The fields that the garbage collector writes. */
import type { ApiObject } from '@orch/api';
import { semanticallyEqual } from '@orch/apimachinery';

/** Reports whether an update changes owner references or finalizers, and nothing else. */
export function changesCollectionFieldsOnly(
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): boolean {
  if (!old || !object) return false;
  const {
    ownerReferences: _now,
    finalizers: _nowLeft,
    managedFields: _by,
    ...now
  } = object.metadata ?? {};
  const { ownerReferences, finalizers, managedFields: _wasBy, ...before } = old.metadata ?? {};
  const collects =
    !semanticallyEqual(ownerReferences, object.metadata?.ownerReferences) ||
    !semanticallyEqual(finalizers, object.metadata?.finalizers);
  return collects && semanticallyEqual({ ...object, metadata: now }, { ...old, metadata: before });
}

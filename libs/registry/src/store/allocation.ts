/**
 * The claims that a write adds and releases: what a kind's `allocate` holds before and after it.
 */
import type { AllocationContext, ApiObject } from '@orch/api';
import type { Operation } from '@orch/store';
import { claimOperations } from '../storage/claims.js';
import type { WriteContext } from '../write-context.js';
import type { ObjectStorage } from './object-storage.js';

/** Fills free choices into `object`. Throws StatusError when a value is taken or none is free. */
export function allocate(
  storage: ObjectStorage,
  context: WriteContext,
  object: ApiObject,
  old: ApiObject | undefined,
): Operation[] {
  const { allocate: allocateKind } = storage.served.definition;
  if (!allocateKind) return [];
  const allocation = allocationContext(storage, context);
  const held = old ? allocateKind(structuredClone(old), old, allocation) : [];
  return claimOperations(held, allocateKind(object, old, allocation));
}

/** Releases every claim of the object. */
export function release(
  storage: ObjectStorage,
  context: WriteContext,
  old: ApiObject,
): Operation[] {
  const { allocate: allocateKind } = storage.served.definition;
  if (!allocateKind) return [];
  const held = allocateKind(structuredClone(old), old, allocationContext(storage, context));
  return claimOperations(held, []);
}

function allocationContext(storage: ObjectStorage, context: WriteContext): AllocationContext {
  const { claims, settings, random } = storage.dependencies;
  const { now, user, dryRun, features, requestVersion } = context;
  return {
    now,
    user,
    dryRun,
    features,
    ...(requestVersion && { requestVersion }),
    allocator: claims,
    settings,
    random,
  };
}

/** Calls a kind's `allocate` and turns what it holds before and after into operations of the commit. */
import type { AllocationContext, ApiObject } from '@orch/api';
import type { Operation } from '@orch/store';
import { claimOperations } from './claims.js';
import { type RegistryParts, requestContext, type WriteContext } from './registry-parts.js';
import type { ServedResource } from './resource.js';

function allocationContext(
  parts: RegistryParts,
  context: WriteContext,
  served: ServedResource,
): AllocationContext {
  return {
    ...requestContext(parts, context, served),
    allocator: parts.claims,
    settings: parts.settings,
    random: parts.random,
  };
}

/** Fills free choices into `object`. Throws StatusError for what cannot be had. */
export function allocate(
  parts: RegistryParts,
  served: ServedResource,
  context: WriteContext,
  object: ApiObject,
  old: ApiObject | undefined,
): Operation[] {
  const { allocate: allocateKind } = served.definition;
  if (!allocateKind) return [];
  const allocation = allocationContext(parts, context, served);
  const held = old ? allocateKind(structuredClone(old), old, allocation) : [];
  return claimOperations(held, allocateKind(object, old, allocation));
}

/** Everything the object holds is let go. */
export function release(
  parts: RegistryParts,
  served: ServedResource,
  context: WriteContext,
  old: ApiObject,
): Operation[] {
  const { allocate: allocateKind } = served.definition;
  if (!allocateKind) return [];
  const held = allocateKind(structuredClone(old), old, allocationContext(parts, context, served));
  return claimOperations(held, []);
}

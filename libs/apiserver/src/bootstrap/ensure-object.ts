/** How the server itself makes objects: through the registry like anybody, as a user of its own. */
import type { ApiObject, SubresourceStatus } from '@orch/api';
import { isStatus } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Entry } from '@orch/store';
import { authenticated } from '../authentication/user.js';
import { createObject } from '../registry/create.js';
import { deleteByDefault, deleteObject } from '../registry/delete.js';
import { freshObject } from '../registry/entry-view.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import { objectStrategy, partStrategy } from '../registry/strategies.js';
import { updateObject } from '../registry/update.js';
import { toStoredShape } from '../request/decode-object.js';

export function systemContext(parts: RegistryParts, timeoutMs: number): WriteContext {
  return {
    user: authenticated('system:apiserver', '', ['system:masters']),
    dryRun: false,
    manager: dialect().systemName('apiserver'),
    deadlineMs: parts.clock.monotonicMs() + timeoutMs,
    warnings: [],
  };
}

export function servedKind(
  parts: RegistryParts,
  plural: string,
  groupHead = 'core',
): ServedResource {
  const served = parts.table.inStoredVersion(groupHead, plural);
  if (!served) throw new Error(`${plural} are not a resource here`);
  return served;
}

/** True when it was made now. Memory tells what is there, a quorum what is not. */
export async function ensureObject(
  parts: RegistryParts,
  context: WriteContext,
  plural: string,
  namespace: string,
  object: ApiObject,
  groupHead = 'core',
): Promise<boolean> {
  const served = servedKind(parts, plural, groupHead);
  const key = served.resource.key(namespace, object.metadata?.name ?? '');
  for (const kind of ['any', 'quorum'] as const) {
    const timeoutMs = timeLeftMs(parts, context.deadlineMs);
    const { entry } = await parts.store.get(key, { consistency: { kind }, timeoutMs });
    if (entry) return false;
  }
  return makeObject(parts, context, served, namespace, object);
}

/** False when it is there already: another server of the cluster was faster. */
export async function makeObject(
  parts: RegistryParts,
  context: WriteContext,
  served: ServedResource,
  namespace: string,
  object: ApiObject,
): Promise<boolean> {
  try {
    // Read like a client's, so that it has the fields that are always there.
    const whole = toStoredShape(served, served.codec.fromJson(object));
    await createObject(parts, served, namespace, whole, context);
    return true;
  } catch (error) {
    if (isStatus(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/** Everything under a prefix, as this server knows it. */
export async function storedEntries(
  parts: RegistryParts,
  prefix: string,
  context: WriteContext,
): Promise<readonly Entry[]> {
  const { entries } = await parts.store.list(prefix, {
    consistency: { kind: 'any' },
    timeoutMs: timeLeftMs(parts, context.deadlineMs),
  });
  return entries;
}

export interface NamedObject {
  readonly plural: string;
  readonly groupHead: string;
  /** Empty for what is in none. */
  readonly namespace?: string;
  readonly name: string;
}

/** Deletes a cluster-scoped object as a client would that says nothing further; gone already is well. */
export async function dropObject(
  parts: RegistryParts,
  context: WriteContext,
  { plural, groupHead, name }: { plural: string; groupHead: string; name: string },
): Promise<void> {
  const target = { served: servedKind(parts, plural, groupHead), namespace: '', name };
  try {
    await deleteObject(parts, target, deleteByDefault, context);
  } catch (error) {
    if (!isStatus(error, 'NotFound')) throw error;
  }
}

/** Changes an object, or its status, as a client would; what has gone meanwhile stays gone. */
export async function changeObject<T extends ApiObject>(
  parts: RegistryParts,
  context: WriteContext,
  { plural, groupHead, namespace = '', name }: NamedObject,
  change: (object: T) => void,
  part: '' | 'status' = '',
): Promise<void> {
  const served = servedKind(parts, plural, groupHead);
  const { status } = served.definition;
  if (part === 'status' && !status) throw new Error(`${plural} have no status of their own`);
  const strategy =
    part === 'status' && status
      ? partStrategy('status', status as SubresourceStatus<object>)
      : objectStrategy(served);
  const produce = (_existing: ApiObject, entry: Entry) => {
    const object = freshObject(entry) as T;
    change(object);
    return object;
  };
  try {
    const target = { served, namespace, name };
    await updateObject(parts, target, { strategy, produce, uid: '' }, context);
  } catch (error) {
    if (!isStatus(error, 'NotFound')) throw error;
  }
}

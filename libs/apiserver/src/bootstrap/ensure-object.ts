/** How the server itself makes objects: through the registry like anybody, as a user of its own. */
import type { ApiObject } from '@orch/api';
import { isStatus } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { authenticated } from '../authentication/user.js';
import { createObject } from '../registry/create.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
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

/** True when it was made now. */
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
  const { entry } = await parts.store.get(key, {
    consistency: { kind: 'quorum' },
    timeoutMs: timeLeftMs(parts, context.deadlineMs),
  });
  if (entry) return false;
  try {
    await createObject(parts, served, namespace, toStoredShape(served, object), context);
    return true;
  } catch (error) {
    // Another server of the cluster was faster.
    if (isStatus(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/**
 * The roles and bindings that every cluster begins with: each start of a server makes what is missing and
 * adds to the others what they lack. Between starts they are left to operators.
 */
import {
  bindsOther,
  isReconciled,
  reconcileBinding,
  reconcileRole,
  systemClusterRoleBindings,
  systemClusterRoles,
  systemRoleBindings,
  systemRoles,
} from '@orch/api';
import { isStatus, semanticallyEqual } from '@orch/apimachinery';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from '@orch/types/rbac.authorization/v1';
import { upkeepTimeoutMs } from '../limits.js';
import { deleteObject } from '../registry/delete.js';
import { freshObject } from '../registry/entry-view.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import type { DeleteOptions } from '../request/write-options.js';
import {
  changeObject,
  makeObject,
  servedKind,
  storedEntries,
  systemContext,
} from './ensure-object.js';

const groupHead = 'rbac.authorization';

type Held = ClusterRole | ClusterRoleBinding | Role | RoleBinding;

interface Kept<T extends Held> {
  readonly plural: string;
  readonly wanted: readonly T[];
  readonly reconcile: (object: T, wanted: T) => void;
  /** It cannot be changed into what is wanted. */
  readonly mustBeRemade?: (object: T, wanted: T) => boolean;
}

/** Rejects with StoreError or StatusError when the store takes no writes: try again later. */
export async function reconcileRoles(parts: RegistryParts): Promise<void> {
  const context = systemContext(parts, upkeepTimeoutMs);
  const bindings = { reconcile: reconcileBinding, mustBeRemade: bindsOther };
  // All at once: the store commits them together.
  await Promise.all([
    keepAll(parts, context, {
      plural: 'clusterroles',
      wanted: systemClusterRoles(),
      reconcile: reconcileRole,
    }),
    keepAll(parts, context, { plural: 'roles', wanted: systemRoles(), reconcile: reconcileRole }),
    keepAll(parts, context, {
      plural: 'clusterrolebindings',
      wanted: systemClusterRoleBindings(),
      ...bindings,
    }),
    keepAll(parts, context, { plural: 'rolebindings', wanted: systemRoleBindings(), ...bindings }),
  ]);
}

async function keepAll<T extends Held>(
  parts: RegistryParts,
  context: WriteContext,
  kept: Kept<T>,
): Promise<void> {
  const served = servedKind(parts, kept.plural, groupHead);
  const { resource } = served;
  const stored = new Map(
    (await storedEntries(parts, resource.keyPrefix, context)).map((entry) => [entry.key, entry]),
  );
  const keep = async (wanted: T) => {
    const { name = '', namespace = '' } = wanted.metadata ?? {};
    const entry = stored.get(resource.key(namespace, name));
    if (entry) {
      const object = freshObject(entry) as T;
      if (!isReconciled(object)) return;
      if (kept.mustBeRemade?.(object, wanted))
        return remake(parts, context, kept.plural, object, wanted);
      kept.reconcile(object, wanted);
      if (semanticallyEqual(object, freshObject(entry))) return;
    } else if (await makeObject(parts, context, served, namespace, structuredClone(wanted))) return;
    const target = { plural: kept.plural, groupHead, namespace, name };
    await changeObject(parts, context, target, (object: T) => {
      if (isReconciled(object)) kept.reconcile(object, wanted);
    });
  };
  await Promise.all(kept.wanted.map(keep));
}

/** Who comes second finds another one, or none. */
async function remake(
  parts: RegistryParts,
  context: WriteContext,
  plural: string,
  { metadata }: Held,
  wanted: Held,
): Promise<void> {
  const served = servedKind(parts, plural, groupHead);
  const { name = '', namespace = '' } = wanted.metadata ?? {};
  const options: DeleteOptions = {
    dryRun: false,
    gracePeriodSeconds: undefined,
    orphanDependents: undefined,
    propagationPolicy: undefined,
    preconditions: { uid: metadata?.uid, resourceVersion: undefined },
  };
  try {
    await deleteObject(parts, { served, namespace, name }, options, context);
  } catch (error) {
    if (!isStatus(error, 'NotFound') && !isStatus(error, 'Conflict')) throw error;
  }
  await makeObject(parts, context, served, namespace, structuredClone(wanted));
}

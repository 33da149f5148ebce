/**
 * The roles and bindings that every cluster begins with. Each start of a server creates missing
 * ones and adds missing rules and subjects to the others. Between starts they belong to operators.
 */
import {
  isAutoUpdated,
  isRoleRefChanged,
  reconcileBinding,
  reconcileRole,
  systemClusterRoleBindings,
  systemClusterRoles,
  systemRoleBindings,
  systemRoles,
} from '@orch/api';
import { isStatus, semanticallyEqual } from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from '@orch/types/rbac.authorization/v1';
import { defaultDeleteOptions } from '../objects/delete-options.js';
import { freshObject } from '../objects/entry-view.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';

const groupHead = 'rbac.authorization';

type RbacObject = ClusterRole | ClusterRoleBinding | Role | RoleBinding;

interface ReconciledKind<T extends RbacObject> {
  readonly plural: string;
  readonly wanted: readonly T[];
  readonly reconcile: (object: T, wanted: T) => void;
  /** Whether the object has to be deleted and created to become `wanted`. */
  readonly mustBeReplaced?: (object: T, wanted: T) => boolean;
}

/** Rejects with StoreError or StatusError while the store takes no writes: retry later. */
export async function reconcileRoles(registry: Registry, features: Features): Promise<void> {
  const writer = new SystemObjectsWriter(registry);
  const roles = { reconcile: reconcileRole };
  const bindings = { reconcile: reconcileBinding, mustBeReplaced: isRoleRefChanged };
  // Concurrently: the store commits them together.
  await Promise.all([
    reconcileKind(writer, {
      plural: 'clusterroles',
      wanted: systemClusterRoles(features),
      ...roles,
    }),
    reconcileKind(writer, { plural: 'roles', wanted: systemRoles(), ...roles }),
    reconcileKind(writer, {
      plural: 'clusterrolebindings',
      wanted: systemClusterRoleBindings(features),
      ...bindings,
    }),
    reconcileKind(writer, { plural: 'rolebindings', wanted: systemRoleBindings(), ...bindings }),
  ]);
}

async function reconcileKind<T extends RbacObject>(
  writer: SystemObjectsWriter,
  { plural, wanted, reconcile, mustBeReplaced }: ReconciledKind<T>,
): Promise<void> {
  const kind = { plural, groupHead };
  const { resource } = writer.store(kind).served;
  const stored = await writer.entries(kind);
  const reconcileObject = async (object: T) => {
    const { name = '', namespace = '' } = object.metadata ?? {};
    const entry = stored.get(resource.key(namespace, name));
    if (entry) {
      const current = freshObject<T>(entry);
      if (!isAutoUpdated(current)) return;
      if (mustBeReplaced?.(current, object)) return replace(writer, kind, current, object);
      reconcile(current, object);
      if (semanticallyEqual(current, freshObject(entry))) return;
    } else if (await writer.create(kind, structuredClone(object))) return;
    await writer.change(kind, { namespace, name }, (fresh: T) => {
      if (isAutoUpdated(fresh)) reconcile(fresh, object);
    });
  };
  await Promise.all(wanted.map(reconcileObject));
}

/**
 * Another server may have replaced the object first: it then has another uid, or does not exist.
 */
async function replace(
  writer: SystemObjectsWriter,
  kind: KindName,
  { metadata }: RbacObject,
  wanted: RbacObject,
): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata ?? {};
  const preconditions = { uid: metadata?.uid, resourceVersion: undefined };
  try {
    await writer.drop(kind, { namespace, name }, { ...defaultDeleteOptions, preconditions });
  } catch (error) {
    if (!isStatus(error, 'Conflict')) throw error;
  }
  await writer.create(kind, structuredClone(wanted));
}
